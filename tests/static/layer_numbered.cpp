// Layers without a name are named by their index in a sequence or sum. An automatic linear without
// a following partner is replicated.
#include <redco/shard/keep_replicated.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#include <string_view>

using namespace redco;

using branches = sum<linear<10, 5>, named<"own", linear<10, 5>>>;
using body = residual<sequential<linear<10, 12>, gelu, linear<12, 10>>>;
using whole_net =
    sequential<linear<7, 6>, relu, linear<6, 10>, body, repeat<3, linear<10, 10>>, layer_norm<10>, branches>;

constexpr model_of<whole_net> net{};
constexpr auto entries = plan_of<net>({.dp = 1, .tp = 2}).entries;

constexpr bool is(std::size_t i, std::string_view name, int split_dim) {
  return entries[i].fact.name.view() == name && entries[i].fact.on(redco::shape::axis::tp).dim == split_dim;
}

constexpr model_of<redco::shard::keep_replicated<sequential<linear<7, 6>, relu, linear<6, 10>, body>, "3">> kept{};
constexpr auto kept_entries = plan_of<kept>({.dp = 1, .tp = 2}).entries;
static_assert(kept_entries[0].fact.on(redco::shape::axis::tp).dim == 0 &&
              kept_entries[4].fact.name.view() == "3.0.weight");
static_assert(kept_entries[4].fact.on(redco::shape::axis::tp).dim == -1 &&
              kept_entries[4].fact.why == fact::reason::overridden);

constexpr model_of<linear<4, 3>> only{};
static_assert(plan_of<only>({.dp = 1, .tp = 7}).entries[0].fact.why == fact::reason::unpaired);

static_assert(is(0, "0.weight", 0) && is(2, "2.weight", 1));
static_assert(is(4, "3.0.weight", 0) && is(6, "3.2.weight", 1));
static_assert(is(8, "4.*.weight", -1) && is(10, "5.weight", -1));
static_assert(is(12, "6.0.weight", -1) && is(14, "6.own.weight", -1));
