// A row of blocks in which only some blocks run again costs the sum of two parts. The recomputed
// blocks cost as much as a row of one recomputed block, all others as much as blocks outside a row.
#include "catch.hpp"

#include "blocks.hpp"

#include <redco/cost/cost_of.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/model.hpp>
#include <redco/options/value_text.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/diag/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
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
  static auto written(std::index_sequence<I...>)
      -> named<"h", sequential<named<redco::layers::detail::digits<I>(), one<I>>...>>;
  using written_out = decltype(written(std::make_index_sequence<Times>()));
};

template <class Net>
redco::cost::rank_cost cost_of_net(redco::cost::setup const& s) {
  return cost_of(model_of<Net, input<16, 12>>{}, adamw{}, s);
}

template <recomputed_blocks Again, class Row, class Written>
void check_alike() {
  for (int const tp : {1, 2, 3}) {
    INFO("tp " << tp << ", " << options::to_text(Again));
    redco::cost::setup const all{
        .mesh = {.dp = 2, .tp = tp}, .load = {.batch = 8}, .recompute = true, .micro_batches = 2};
    redco::cost::setup some = all;
    some.recompute = Again;
    auto const same = [&](redco::cost::rank_cost const& a, redco::cost::rank_cost const& b) {
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
    if (Again.range.begin >= static_cast<std::int64_t>(times())) return;  // refused
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
  check_row<recomputed_blocks::in_range({2, 6}), Blocks...>();
  check_row<recomputed_blocks::in_range({3}), Blocks...>();
}

TEST_CASE("some recomputed blocks of a row cost as much as each block alone") {
  check_choices<pre_norm>();
  check_choices<post_norm>();
  check_choices<saves_output>();
}

TEST_CASE("some recomputed blocks of a cycle cost as much as each block alone") {
  check_choices<pre_norm, saves_output>();
  check_choices<saves_output, narrow, post_norm>();
}

TEST_CASE("a cycle within blocks costs as much as its blocks in sequence") {
  using cycle = named<"g", repeat<2, repeat<3, pre_norm, saves_output>>>;
  using written =
      named<"g", repeat<2, sequential<named<"0", pre_norm>, named<"1", saves_output>, named<"2", pre_norm>>>>;
  redco::cost::setup const s{.load = {.batch = 8}};
  cost::memory const a = cost_of_net<sequential<named<"i", narrow>, cycle, named<"o", layer_norm<12>>>>(s).memory;
  cost::memory const b = cost_of_net<sequential<named<"i", narrow>, written, named<"o", layer_norm<12>>>>(s).memory;
  CHECK(a.activations == b.activations);
  CHECK(a.backward.bytes() == b.backward.bytes());
}

TEST_CASE("each block costs as much in a row of any length") {
  auto const bytes = [](std::int64_t layers, recomputed_blocks const& again) {
    gpt2 const model{{.vocab = 64, .context = 16, .width = 24, .heads = 3, .layers = layers}};
    return redco::cost::cost_of(model, adamw{}, {.load = {2, 16}, .recompute = again}).memory;
  };
  for (recomputed_blocks const& again : {recomputed_blocks(false), recomputed_blocks(true),
                                         recomputed_blocks::every_kth(2), recomputed_blocks::every_kth(3)}) {
    std::int64_t const six = bytes(12, again).activations - bytes(6, again).activations;
    CHECK(bytes(600'000, again).activations - bytes(6, again).activations == six * 99'999);
    CHECK(bytes(600'001, again).activations - bytes(7, again).activations == six * 99'999);
  }
  for (recomputed_blocks const& two : {recomputed_blocks::first_n(2), recomputed_blocks::in_range({1, 3})}) {
    std::int64_t const once = bytes(9, two).activations - bytes(8, two).activations;
    CHECK(bytes(600'000, two).activations - bytes(3, two).activations == once * 599'997);
  }
  auto const most = recomputed_blocks::in_range({2, 599'999});
  std::int64_t const again = bytes(9, most).activations - bytes(8, most).activations;
  CHECK(bytes(599'999, most).activations - bytes(3, most).activations == again * 599'996);
}

TEST_CASE("recomputed blocks of a range save only their input in rows of any length") {
  // A block saves 3 x 5 numbers of its input and 3 x 7 twice, in f32. The layer after the row saves
  // its output.
  using block = sequential<named<"a", linear<5, 7>>, gelu, named<"b", linear<7, 5>>>;
  using net = sequential<named<"i", linear<5, 5>>, named<"e", repeat<2, block>>, named<"d", repeat<5, block>>,
                         named<"o", linear<5, 3>>>;
  model_of<net, input<5>> const model{};
  auto const saved = [&](recomputed_blocks const& again) {
    return redco::cost::cost_of(model, adamw{}, {.load = {.batch = 3}, .recompute = again}).memory.activations;
  };
  std::int64_t const all = 4 * 3 * (8 * 5 + 7 * 2 * 7);
  CHECK(saved(false) == all);
  CHECK(saved(recomputed_blocks::in_range({2, 4})) == all - 2 * 4 * 3 * 2 * 7);
  CHECK(saved(recomputed_blocks::in_range({4, 400})) == all - 1 * 4 * 3 * 2 * 7);
  // Recomputes "e.1", "d.1" and "d.2".
  CHECK(saved(recomputed_blocks::in_range({1, 3})) == all - 3 * 4 * 3 * 2 * 7);
}

TEST_CASE("a range that begins after the last block of the longest row is refused") {
  auto const refusal = [](auto const& model, recomputed_blocks const& again) -> std::string {
    try {
      redco::cost::cost_of(model, adamw{}, {.load = {.batch = 3, .sequence = 4}, .recompute = again});
    } catch (error const& e) {
      CHECK(e.code() == exit_code::usage);
      return e.what();
    }
    return "";
  };
  gpt2 const three{{.vocab = 64, .context = 16, .width = 24, .heads = 3, .layers = 3}};
  CHECK(refusal(three, recomputed_blocks::in_range({3, 5})) ==
        "no block is recomputed: the range begins with block 3, and the model has blocks 0 to 2; choose a range that "
        "begins at 2 or before");
  CHECK(refusal(three, recomputed_blocks::in_range({2, 5})) == "");
  using nested = sequential<named<"h", repeat<2, repeat<4, pre_norm>>>, named<"g", repeat<3, pre_norm>>>;
  CHECK(refusal(model_of<nested, input<16, 12>>{}, recomputed_blocks::in_range({3, 4})).find("blocks 0 to 2;") !=
        std::string::npos);
  CHECK(refusal(model_of<nested, input<16, 12>>{}, recomputed_blocks::in_range({2, 4})) == "");
  CHECK(refusal(model_of<pre_norm, input<16, 12>>{}, recomputed_blocks::in_range({1, 4})) ==
        "no block is recomputed: the range begins with block 1, and the model repeats no blocks; recompute none");
}

}  // namespace recomputed_blocks_test
