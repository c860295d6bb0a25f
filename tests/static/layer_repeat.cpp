// A cycle of blocks at compile time: names, indices and facts of each kind, and the moment of
// backward with the largest memory.
#include <redco/cost/cost_of.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/tree.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/fact/block_slices.hpp>
#include <redco/fact/path.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace {

using namespace redco;

template <int Inner>
using block = residual<
    sequential<named<"n", layer_norm<12>>, named<"up", linear<12, Inner>>, gelu, named<"down", linear<Inner, 12>>>>;
using narrow = block<12>;
using wide = block<96>;
template <int Times, class... Blocks>
using net = sequential<named<"in", layer_norm<12>>, named<"h", repeat<Times, Blocks...>>>;
template <int Times, class... Blocks>
inline constexpr model_of<net<Times, Blocks...>, input<16, 12>> cycle{};

constexpr std::int64_t count(fact::block_slice const& s) {
  std::int64_t n = 0;
  for (std::int64_t block = 0; block < s.times; ++block) n += s.has(block);
  return n;
}
constexpr bool slices_count() {
  for (std::int64_t times = 1; times < 8; ++times)
    for (std::int64_t step = 1; step < 5; ++step)
      for (std::int64_t first = 0; first < step && first < times; ++first)
        if (fact::block_slice const s{times, first, step}; s.count() != count(s)) return false;
  return true;
}
static_assert(slices_count());
static_assert(fact::block_slice{5, 0, 1}.number().view() == "*");
static_assert(fact::block_slice{40, 10, 12}.number().view() == "10::12");

/// Returns the number of blocks that have a parameter of this name; 0: none.
template <auto const& Model>
constexpr std::int64_t blocks_with(std::string_view name) {
  for (shard::entry const& e : plan_of<Model>({.tp = 2}).entries)
    if (e.fact.name.view() == name) return e.fact.copies();
  return 0;
}
static_assert(blocks_with<cycle<5, narrow, wide>>("h.0::2.up.weight") == 3);
static_assert(blocks_with<cycle<5, narrow, wide>>("h.1::2.up.weight") == 2);
static_assert(blocks_with<cycle<1, narrow, wide>>("h.0::2.up.weight") == 1);
static_assert(blocks_with<cycle<1, narrow, wide>>("h.1::2.up.weight") == 0);
static_assert(blocks_with<cycle<5, narrow>>("h.*.up.weight") == 5);

// A wide block holds most: the last of all, or the block before it if the saved tensors of the last
// one are freed by then. A block saves its input, the norm's result and statistics, and the inner
// features twice. If it runs again, it holds all of these except the input, plus its output.
template <auto const& Model>
constexpr cost::backward_moment most(bool recompute) {
  return redco::cost::cost_of<Model>(sgd{}, {.load = {.batch = 2}, .recompute = recompute}).memory.backward;
}
constexpr std::int64_t row = 2 * 16 * 12 * 4, statistics = 2 * 2 * 16 * 4;
constexpr std::int64_t of_narrow = 4 * row + statistics, of_wide = 18 * row + statistics;
constexpr bool is(cost::backward_moment const& m, std::string_view layer, std::int64_t activations,
                  std::int64_t recomputed) {
  return m.layer.view() == layer && m.activations == activations && m.recomputed == recomputed;
}
static_assert(is(most<cycle<4, narrow, wide>>(false), "h.1::2.down", statistics + 2 * of_narrow + 2 * of_wide, 0));
static_assert(is(most<cycle<3, narrow, wide>>(false), "h.1::2.down", statistics + of_narrow + of_wide, 0));
static_assert(is(most<cycle<3, wide, narrow>>(false), "h.0::2.down", statistics + of_narrow + 2 * of_wide, 0));
static_assert(is(most<cycle<4, narrow, wide>>(true), "h.1::2.down", statistics + 4 * row, of_wide));
static_assert(is(most<cycle<3, narrow, wide>>(true), "h.1::2.down", statistics + 2 * row, of_wide));
static_assert(is(most<cycle<3, wide, narrow>>(true), "h.0::2.down", statistics + 3 * row, of_wide));

// A rewrite finds the layers of each kind of block under the path of the row.
struct widened {
  template <class L, fact::path Here>
  struct at : std::type_identity<L> {};
  template <class L, fact::path Here>
    requires(Here.view() == "h.*" && std::is_same_v<L, narrow>)
  struct at<L, Here> : std::type_identity<wide> {};
};
static_assert(std::is_same_v<redco::layers::transform<net<5, narrow, block<24>>, widened>, net<5, wide, block<24>>>);
static_assert(std::is_same_v<redco::layers::transform<net<5, block<24>, narrow>, widened>, net<5, block<24>, wide>>);

}  // namespace

int main() {}
