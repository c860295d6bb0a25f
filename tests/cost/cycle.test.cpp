// A cycle of blocks costs what the same blocks cost one after another.
#include "catch.hpp"

#include "blocks.hpp"

#include <redco/cost/cost_of.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace cycle_test {

using namespace redco;
using namespace cost_test;

using local = residual<
    sequential<named<"n", layer_norm<12>>, named<"attn", causal_attention<12, 6, redco::layers::sliding_window<3>>>>>;

/// `Times` blocks of the cycle: as a repeat, written out, and written out as rows of one block.
template <std::size_t Times, class... Blocks>
struct rows {
  using repeated = named<"h", repeat<static_cast<int>(Times), Blocks...>>;

  template <std::size_t... I>
  static auto written(std::index_sequence<I...>)
      -> named<"h", sequential<named<redco::layers::detail::digits<I>(), turn<I, Blocks...>>...>>;
  template <std::size_t... I>
  static auto ones(std::index_sequence<I...>)
      -> named<"h", sequential<named<redco::layers::detail::digits<I>(), repeat<1, turn<I, Blocks...>>>...>>;

  using sequence = decltype(written(std::make_index_sequence<Times>()));
  using row_of_ones = decltype(ones(std::make_index_sequence<Times>()));
};

template <class Net>
redco::cost::rank_cost cost_of_net(redco::cost::setup const& s) {
  redco::cost::rank_cost c = cost_of(model_of<Net, input<16, 12>>{}, adamw{}, s);
  c.memory.backward.layer = {};  // only the layer's name differs
  return c;
}

/// Checks that both networks cost the same. The layer before them saves its output or does not; the
/// layer after them saves its input or does not.
template <class Row, class Other>
void check_alike(bool recompute) {
  for (int const tp : {1, 2, 3}) {
    redco::cost::setup const s{
        .mesh = {.dp = 2, .tp = tp}, .load = {.batch = 8}, .recompute = recompute, .micro_batches = 2};
    INFO("tp " << tp << ", recompute " << recompute);
    auto const same = [&](redco::cost::rank_cost const& a, redco::cost::rank_cost const& b) {
      CHECK(a.memory.activations == b.memory.activations);
      CHECK(a.memory.backward.bytes() == b.memory.backward.bytes());
      CHECK(a == b);
    };
    same(cost_of_net<sequential<saves_output, Row, named<"o", linear<12, 2>>>>(s),
         cost_of_net<sequential<saves_output, Other, named<"o", linear<12, 2>>>>(s));
    same(cost_of_net<sequential<named<"i", narrow>, Row, named<"o", layer_norm<12>>>>(s),
         cost_of_net<sequential<named<"i", narrow>, Other, named<"o", layer_norm<12>>>>(s));
    // The batch has no gradient
    CHECK(cost_of_net<Row>(s).messages == cost_of_net<Other>(s).messages);
    same(
        cost_of_net<sequential<named<"i", narrow>, redco::layers::split_tokens, Row, named<"o", layer_norm<12>>>>(s),
        cost_of_net<sequential<named<"i", narrow>, redco::layers::split_tokens, Other, named<"o", layer_norm<12>>>>(s));
  }
}

template <class... Blocks, std::size_t... Times>
void check_cycle(std::index_sequence<Times...>) {
  auto const one = [&](auto times) {
    using row = rows<times() + 1, Blocks...>;
    INFO(times() + 1 << " blocks");
    check_alike<typename row::repeated, typename row::sequence>(false);
    check_alike<typename row::repeated, typename row::row_of_ones>(true);
  };
  (one(std::integral_constant<std::size_t, Times>()), ...);
}

using one_to_five = std::make_index_sequence<5>;

TEST_CASE("a cycle costs as much as its blocks in sequence, with and without recomputation") {
  check_cycle<pre_norm, local>(one_to_five());
  check_cycle<local, pre_norm>(one_to_five());
  check_cycle<post_norm, pre_norm>(one_to_five());
  check_cycle<saves_output, pre_norm>(one_to_five());
  check_cycle<pre_norm, saves_output>(one_to_five());
  check_cycle<saves_output, post_norm>(one_to_five());
  check_cycle<narrow, saves_output, pre_norm>(one_to_five());
  check_cycle<saves_output>(one_to_five());
}

TEST_CASE("a cycle of one block twice costs as much as the repeated block") {
  auto const check = [](auto times, auto block) {
    using one = decltype(block);
    using alone = named<"h", repeat<times(), one>>;
    using twice = named<"h", repeat<times(), one, one>>;
    check_alike<twice, alone>(false);
    check_alike<twice, alone>(true);
    check_alike<named<"g", repeat<2, twice>>, named<"g", repeat<2, alone>>>(false);
  };
  check(std::integral_constant<int, 1>(), pre_norm());
  check(std::integral_constant<int, 2>(), pre_norm());
  check(std::integral_constant<int, 5>(), post_norm());
  check(std::integral_constant<int, 5>(), saves_output());
}

}  // namespace cycle_test
