// Counts the enter conversions at the input of parallel branches: one for all branches that begin a
// split, none for replicated branches.
#include <redco/shard/facts.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#include <cstdint>
#include <type_traits>

using namespace redco;

using norm = named<"n", layer_norm<8>>;
using pair = sequential<named<"up", linear<8, 12>>, gelu, named<"down", linear<12, 8>>>;
using attn = named<"attn", causal_attention<8, 4>>;
using one = named<"one", pair>;
using two = named<"two", redco::layers::initialised<redco::layers::real{0.02},
                                                    sequential<gated<8, 12>, named<"down", linear<12, 8>>>>>;
using whole = named<"whole", redco::layers::replicated_linear<8, 8>>;
using normed = named<"normed", sequential<norm, pair>>;
using dropped = named<"dropped", sequential<dropout<redco::layers::real{0.5}>, pair>>;

static_assert(redco::layers::enters<attn> && redco::layers::enters<one> && redco::layers::enters<two> &&
              redco::layers::enters<linear<8, 4>>);
static_assert(!redco::layers::enters<whole> && !redco::layers::enters<normed> && !redco::layers::enters<dropped> &&
              !redco::layers::enters<norm> && !redco::layers::enters<residual<pair>>);
// No partner follows
static_assert(!redco::layers::enters<sequential<linear<8, 8>, norm>> &&
              !redco::layers::enters<redco::layers::unpaired_t<linear<8, 4>>>);
// Has its own enter
static_assert(!redco::layers::enters<sequential<redco::layers::enter_layer, column_linear<8, 8>, row_linear<8, 8>>>);
static_assert(redco::layers::enters<sum<attn, one>> && !redco::layers::enters<sum<attn, whole>> &&
              !redco::layers::enters<sum<linear<8, 8>, one>>);
static_assert(
    std::is_same_v<redco::layers::out_t<sum<attn, one, whole>, redco::shape::replicated>, redco::shape::partial>);
static_assert(std::is_same_v<redco::layers::out_t<sum<attn, one>, redco::shape::entered>, redco::shape::partial>);

/// A network that starts with a norm, so that there is a gradient to reduce.
template <class Net>
struct after_a_norm {
  using net = sequential<norm, Net>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, load.sequence, 8}; }
};
template <class Net>
inline constexpr after_a_norm<Net> instance{};

template <class Net>
constexpr std::int64_t entered_times() {
  std::int64_t times = 0;
  for (fact::message_fact const& m : redco::shard::facts_of<instance<Net>>({2, 3}).messages)
    if (m.backward) times += m.copies;
  return times;
}

static_assert(entered_times<sum<attn>>() == 1);
static_assert(entered_times<sum<attn, one, two>>() == 1);
static_assert(entered_times<sum<whole, attn, named<"too", linear<8, 8>>, one>>() == 1);
static_assert(entered_times<sum<whole, one>>() == 1);
static_assert(entered_times<sum<whole, named<"too", whole>>>() == 0);
static_assert(entered_times<sum<attn, normed>>() == 2);  // another value enters there
static_assert(entered_times<sum<sum<attn, one>, two>>() == 1);
// The inner sum also needs its input replicated
static_assert(entered_times<sum<sum<attn, one, whole>, two>>() == 2);
static_assert(entered_times<sequential<redco::layers::enter_layer, sum<attn, one>>>() == 1);
static_assert(redco::shard::facts_of<instance<sum<attn, one>>>({2, 3}).messages[0].shape == extents{2, 3, 8});

int main() {}
