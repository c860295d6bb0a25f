// A row of blocks in which only some blocks run again costs the sum of two parts. The recomputed
// blocks cost as much as a row of one recomputed block, all others as much as blocks outside a row.
#include "catch.hpp"

#include "blocks.hpp"

#include <redco/cost/cost_of.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/input.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/optimizer/adamw.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace recomputed_blocks_test {

using namespace redco;
using namespace cost_test;

template <std::size_t Times, recomputed_blocks Again, class... Blocks>
struct rows {
  using row = named<"h", repeat<static_cast<int>(Times), Blocks...>>;

  template <std::size_t I>
  using one = std::conditional_t<Again.has(I), repeat<1, turn<I, Blocks...>>, turn<I, Blocks...>>;

  template <std::size_t... I>
  static auto written(std::index_sequence<I...>) -> named<"h", sequential<named<detail::digits<I>(), one<I>>...>>;
  using written_out = decltype(written(std::make_index_sequence<Times>()));
};

template <class Net>
rank_cost cost_of_net(setup const& s) {
  return cost_of(model_of<Net, input<16, 12>>{}, adamw{}, s);
}

template <recomputed_blocks Again, class Row, class Written>
void check_alike() {
  for (int const tp : {1, 2, 3}) {
    INFO("tp " << tp << ", every " << Again.every << ", first " << Again.first);
    setup const all{.mesh = {.dp = 2, .tp = tp}, .load = {.batch = 8}, .recompute = true, .micro_batches = 2};
    setup some = all;
    some.recompute = Again;
    auto const same = [&](rank_cost const& a, rank_cost const& b) {
      CHECK(a.memory.activations == b.memory.activations);
      CHECK(a.memory.backward.activations == b.memory.backward.activations);
      CHECK(a.memory.backward.recomputed == b.memory.backward.recomputed);
      CHECK(a.memory.peak() == b.memory.peak());
      CHECK(a.messages == b.messages);
      CHECK(a.operations == b.operations);
      CHECK(a.activity.weight_bytes == b.activity.weight_bytes);
    };
    same(cost_of_net<sequential<saves_output, Row, named<"o", linear<12, 2>>>>(some),
         cost_of_net<sequential<saves_output, Written, named<"o", linear<12, 2>>>>(all));
    same(cost_of_net<sequential<named<"i", narrow>, Row, named<"o", layer_norm<12>>>>(some),
         cost_of_net<sequential<named<"i", narrow>, Written, named<"o", layer_norm<12>>>>(all));
    same(cost_of_net<sequential<named<"i", linear<12, 12>>, residual<Row>>>(some),
         cost_of_net<sequential<named<"i", linear<12, 12>>, residual<Written>>>(all));
  }
}

template <recomputed_blocks Again, class... Blocks>
void check_row() {
  auto const one = [](auto times) {
    INFO(times() << " blocks");
    using both = rows<times(), Again, Blocks...>;
    check_alike<Again, typename both::row, typename both::written_out>();
  };
  one(std::integral_constant<std::size_t, 1>());
  one(std::integral_constant<std::size_t, 4>());
  one(std::integral_constant<std::size_t, 7>());
}

template <class... Blocks>
void check_choices() {
  check_row<recomputed_blocks::every_kth(2), Blocks...>();
  check_row<recomputed_blocks::every_kth(3), Blocks...>();
  check_row<recomputed_blocks::first_n(1), Blocks...>();
  check_row<recomputed_blocks::first_n(3), Blocks...>();
}

TEST_CASE("some blocks of a row run again and cost what they cost alone") {
  check_choices<pre_norm>();
  check_choices<post_norm>();
  check_choices<saves_output>();
}

TEST_CASE("some blocks of a cycle run again and cost what they cost alone") {
  check_choices<pre_norm, saves_output>();
  check_choices<saves_output, narrow, post_norm>();
}

TEST_CASE("a cycle within blocks costs what its blocks cost one after another") {
  using cycle = named<"g", repeat<2, repeat<3, pre_norm, saves_output>>>;
  using written =
      named<"g", repeat<2, sequential<named<"0", pre_norm>, named<"1", saves_output>, named<"2", pre_norm>>>>;
  setup const s{.load = {.batch = 8}};
  cost::memory const a = cost_of_net<sequential<named<"i", narrow>, cycle, named<"o", layer_norm<12>>>>(s).memory;
  cost::memory const b = cost_of_net<sequential<named<"i", narrow>, written, named<"o", layer_norm<12>>>>(s).memory;
  CHECK(a.activations == b.activations);
  CHECK(a.backward.bytes() == b.backward.bytes());
}

TEST_CASE("each block costs as much in a row of any length") {
  auto const bytes = [](std::int64_t layers, recomputed_blocks const& again) {
    gpt2 const model{{.vocab = 64, .context = 16, .width = 24, .heads = 3, .layers = layers}};
    return cost_of(model, adamw{}, {.load = {2, 16}, .recompute = again}).memory;
  };
  for (recomputed_blocks const& again : {recomputed_blocks(false), recomputed_blocks(true),
                                         recomputed_blocks::every_kth(2), recomputed_blocks::every_kth(3)}) {
    std::int64_t const six = bytes(12, again).activations - bytes(6, again).activations;
    CHECK(bytes(600'000, again).activations - bytes(6, again).activations == six * 99'999);
    CHECK(bytes(600'001, again).activations - bytes(7, again).activations == six * 99'999);
  }
  auto const two = recomputed_blocks::first_n(2);
  std::int64_t const once = bytes(9, two).activations - bytes(8, two).activations;
  CHECK(bytes(600'000, two).activations - bytes(3, two).activations == once * 599'997);
}

}  // namespace recomputed_blocks_test
