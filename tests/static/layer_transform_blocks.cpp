// Blocks of a repeat rewritten by number: types, names in plans, and costs, which are those of one
// row if nothing differs.
#include <redco/cost/cost_of.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/model.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/fact/block_slices.hpp>
#include <redco/fact/path.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/blocks.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace {

using namespace redco;

template <auto Inner>
using block = residual<
    sequential<named<"n", layer_norm<12>>, named<"up", linear<12, Inner>>, gelu, named<"down", linear<Inner, 12>>>>;
template <auto Inner>
using other = sequential<named<"up", linear<12, Inner>>, gelu, named<"down", linear<Inner, 12>>>;
template <class Repeat>
using net = sequential<named<"in", layer_norm<12>>, named<"h", Repeat>>;

/// Gives linears of one width another.
template <auto From, auto To>
struct widened {
  template <class L, fact::path Here>
  struct at : std::type_identity<L> {};
  template <fact::path Here>
    requires(Here.view() == "h.*.up")
  struct at<linear<12, From>, Here> : std::type_identity<linear<12, To>> {};
  template <fact::path Here>
    requires(Here.view() == "h.*.down")
  struct at<linear<From, 12>, Here> : std::type_identity<linear<To, 12>> {};
};
template <class Net, redco::shape::block_range Range, auto From, auto To>
using wide_in = redco::layers::transform_blocks<Net, "h", Range, widened<From, To>>;

template <redco::shape::block_range Range, class... Kinds>
using in = redco::layers::detail::blocks_in<Range, Kinds...>;
constexpr std::int64_t end = redco::shape::block_range::no_end;
using plain = net<repeat<5, block<24>>>;
using middle = wide_in<plain, redco::shape::block_range{1, 3}, 24, 96>;
static_assert(std::is_same_v<middle, net<repeat<5, in<redco::shape::block_range{0, 1}, block<24>>,
                                                in<redco::shape::block_range{1, 3}, block<96>>,
                                                in<redco::shape::block_range{3, end}, block<24>>>>>);
static_assert(std::is_same_v<wide_in<plain, redco::shape::block_range{0, 2}, 24, 96>,
                             net<repeat<5, in<redco::shape::block_range{0, 2}, block<96>>,
                                        in<redco::shape::block_range{2, end}, block<24>>>>>);
static_assert(std::is_same_v<wide_in<plain, redco::shape::block_range{4}, 24, 96>,
                             net<repeat<5, in<redco::shape::block_range{0, 4}, block<24>>,
                                        in<redco::shape::block_range{4, end}, block<96>>>>>);
static_assert(std::is_same_v<wide_in<plain, redco::shape::block_range{}, 24, 96>, net<repeat<5, block<96>>>>);
// A second rewrite cuts the rows in which it changes a block; a rewrite of all blocks reaches into
// each row.
static_assert(
    std::is_same_v<
        wide_in<middle, redco::shape::block_range{2, 4}, 24, 48>,
        net<repeat<5, in<redco::shape::block_range{0, 1}, block<24>>, in<redco::shape::block_range{1, 3}, block<96>>,
                   in<redco::shape::block_range{3, 4}, block<48>>, in<redco::shape::block_range{4, end}, block<24>>>>>);
static_assert(
    std::is_same_v<
        wide_in<middle, redco::shape::block_range{2, 4}, 96, 48>,
        net<repeat<5, in<redco::shape::block_range{0, 1}, block<24>>, in<redco::shape::block_range{1, 2}, block<96>>,
                   in<redco::shape::block_range{2, 3}, block<48>>, in<redco::shape::block_range{3, end}, block<24>>>>>);
static_assert(
    std::is_same_v<
        redco::layers::transform<middle, widened<24, 48>>,
        net<repeat<5, in<redco::shape::block_range{0, 1}, block<48>>, in<redco::shape::block_range{1, 3}, block<96>>,
                   in<redco::shape::block_range{3, end}, block<48>>>>>);
// Kinds that take turns keep their turns.
using turns = wide_in<net<repeat<5, block<24>, other<24>>>, redco::shape::block_range{1, 4}, 24, 96>;
static_assert(std::is_same_v<turns, net<repeat<5, in<redco::shape::block_range{0, 1}, block<24>, other<24>>,
                                               in<redco::shape::block_range{1, 4}, block<96>, other<96>>,
                                               in<redco::shape::block_range{4, end}, block<24>, other<24>>>>>);

// A plan names the blocks of each part as Python's slices, and has as many of them.
static_assert(fact::block_slice{4, 0, 1, 3, true}.number().view() == "3:7");
static_assert(fact::block_slice{4, 1, 2, 3, true}.number().view() == "4:7:2");
template <class Net>
inline constexpr model_of<Net, input<16, 12>> of{};
template <class Net>
constexpr std::int64_t blocks_with(std::string_view name, std::int64_t rows) {
  for (shard::entry const& e : plan_of<of<Net>>({.tp = 2}).entries)
    if (e.fact.name.view() == name && e.fact.shape[0] == rows) return e.fact.copies();
  return 0;
}
static_assert(blocks_with<middle>("h.0:1.up.weight", 24) == 1 && blocks_with<middle>("h.1:3.up.weight", 96) == 2 &&
              blocks_with<middle>("h.3:5.up.weight", 24) == 2);
static_assert(blocks_with<turns>("h.0:1:2.up.weight", 24) == 1 && blocks_with<turns>("h.1:4:2.up.weight", 96) == 2 &&
              blocks_with<turns>("h.2:4:2.n.weight", 12) == 1 && blocks_with<turns>("h.1:4:2.n.weight", 12) == 0 &&
              blocks_with<turns>("h.4:5:2.n.weight", 12) == 1);

// Equal blocks of another type cost what they cost in one row, whichever of them run again.
template <class Net, class Whole, recomputed_blocks Again>
constexpr bool have_equal_costs() {
  redco::cost::setup const s{.mesh = {.dp = 2, .tp = 2}, .load = {.batch = 3}, .recompute = Again, .micro_batches = 2};
  redco::cost::rank_cost const a = cost_of<of<Net>>(adamw{}, s), b = cost_of<of<Whole>>(adamw{}, s);
  return a.memory.peak() == b.memory.peak() && a.memory.activations == b.memory.activations &&
         a.memory.backward.recomputed == b.memory.backward.recomputed && a.memory.parameters == b.memory.parameters &&
         a.messages == b.messages && a.operations == b.operations && a.activity == b.activity;
}
template <class Net, class Whole, recomputed_blocks Again>
inline constexpr bool costs_as =
    have_equal_costs<Net, Whole, Again>();  // each is a constant of its own: clang counts steps
template <class Net, class Whole>
inline constexpr bool costs_as_whole =
    costs_as<Net, Whole, false>&& costs_as<Net, Whole, true>&& costs_as<Net, Whole, recomputed_blocks::every_kth(2)>&&
        costs_as<Net, Whole, recomputed_blocks::every_kth(3)>&& costs_as<Net, Whole, recomputed_blocks::first_n(2)>&&
            costs_as<Net, Whole, recomputed_blocks::in_range({2, 4})>&&
                costs_as<Net, Whole, recomputed_blocks::in_range({3})>;
static_assert(costs_as_whole<wide_in<plain, redco::shape::block_range{1, 3}, 24, 24L>, plain>);
// No block is left for the last row.
static_assert(costs_as_whole<wide_in<plain, redco::shape::block_range{2, 5}, 24, 24L>, plain>);
using cycle = net<repeat<7, block<24>, other<24>>>;
static_assert(costs_as_whole<wide_in<cycle, redco::shape::block_range{1, 4}, 24, 24L>, cycle>);

// A nested repeat is rewritten by its own path. Types that a rewrite does not change stay equal.
using nested = net<repeat<4, named<"g", repeat<3, block<24>>>>>;
static_assert(
    std::is_same_v<redco::layers::transform_blocks<nested, "h.*.g", redco::shape::block_range{1, 2}, widened<24, 24L>>,
                   nested>);
struct narrowed {
  template <class L, fact::path Here>
  struct at : std::type_identity<L> {};
  template <fact::path Here>
    requires(Here.view() == "h.*.g.*")
  struct at<block<24>, Here> : std::type_identity<block<24L>> {};
};
using cut_nested = redco::layers::transform_blocks<nested, "h.*.g", redco::shape::block_range{1, 2}, narrowed>;
static_assert(!std::is_same_v<cut_nested, nested>);
static_assert(costs_as_whole<cut_nested, nested>);

// Tokens are split before the rows as before one row.
static_assert(redco::models::repeats_blocks<model_of<middle, input<16, 12>>>);

}  // namespace

int main() {}
