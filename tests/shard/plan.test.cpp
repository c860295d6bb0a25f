#include "catch.hpp"

#include <redco/shard/plan.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/fact/path.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/diag/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace plan_test {

using pair = redco::sequential<redco::named<"up", redco::linear<6, 8, false>>, redco::relu,
                               redco::named<"down", redco::linear<8, 6, false>>>;
using nested = redco::sequential<redco::named<"g", redco::repeat<2, redco::named<"b", redco::repeat<3, pair>>>>,
                                 redco::named<"last", redco::linear<6, 2>>>;

TEST_CASE("repeats in repeats are written out block after block") {
  auto const placed = redco::shard::placed_parameters(redco::plan_of(redco::model_of<nested>{}, {.tp = 2}));
  std::vector<std::string> names;
  for (int g = 0; g < 2; ++g)
    for (int b = 0; b < 3; ++b)
      for (char const* leaf : {"up", "down"})
        names.push_back("g." + std::to_string(g) + ".b." + std::to_string(b) + "." + leaf + ".weight");
  names.insert(names.end(), {"last.weight", "last.bias"});
  REQUIRE(placed.size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(placed[i].name == names[i]);
}

TEST_CASE("blocks of a cycle are written out in turn, each with its own parameters") {
  using scale = redco::named<"s", redco::linear<6, 6, false>>;
  using net = redco::sequential<
      redco::named<"h", redco::repeat<5, pair, redco::named<"b", redco::repeat<3, scale, redco::named<"t", scale>>>>>,
      redco::named<"last", redco::linear<6, 2, false>>>;
  std::vector<std::string> names;
  for (int h = 0; h < 5; ++h) {
    std::string const at = "h." + std::to_string(h) + ".";
    if (h % 2 == 0) names.insert(names.end(), {at + "up.weight", at + "down.weight"});
    else names.insert(names.end(), {at + "b.0.s.weight", at + "b.1.t.s.weight", at + "b.2.s.weight"});
  }
  names.push_back("last.weight");
  std::vector<std::string> placed;
  for (auto const& p : redco::shard::placed_parameters(redco::plan_of(redco::model_of<net>{}, {.tp = 2})))
    placed.push_back(p.name);
  CHECK(placed == names);
}

/// Puts `To` in the place of the repeated blocks `From`.
template <class From, class To>
struct instead {
  template <class L, redco::fact::path Here>
  struct at : std::type_identity<std::conditional_t<std::is_same_v<L, From>, To, L>> {};
};

template <class Net>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (auto const& p : redco::shard::placed_parameters(redco::plan_of(redco::model_of<Net>{}, {.tp = 2})))
    names.push_back(p.name);
  return names;
}

TEST_CASE("blocks that are rewritten by number have their names in the order of the whole model") {
  using turn = redco::named<"s", redco::linear<6, 6, false>>;
  using other = redco::named<"t", redco::linear<6, 6, false>>;
  using plain =
      redco::sequential<redco::named<"h", redco::repeat<6, pair, turn>>, redco::named<"last", redco::linear<6, 2>>>;
  using net = redco::layers::transform_blocks<plain, "h", redco::shape::block_range{1, 4}, instead<turn, other>>;
  CHECK(names_of<net>() == std::vector<std::string>{"h.0.up.weight", "h.0.down.weight", "h.1.t.weight", "h.2.up.weight",
                                                    "h.2.down.weight", "h.3.t.weight", "h.4.up.weight",
                                                    "h.4.down.weight", "h.5.s.weight", "last.weight", "last.bias"});
  using again = redco::layers::transform_blocks<net, "h", redco::shape::block_range{4}, instead<pair, other>>;
  CHECK(names_of<again>() == std::vector<std::string>{"h.0.up.weight", "h.0.down.weight", "h.1.t.weight",
                                                      "h.2.up.weight", "h.2.down.weight", "h.3.t.weight",
                                                      "h.4.t.weight", "h.5.s.weight", "last.weight", "last.bias"});
  using inner = redco::layers::transform_blocks<nested, "g.*.b", redco::shape::block_range{1, 2}, instead<pair, turn>>;
  CHECK(names_of<inner>() == std::vector<std::string>{"g.0.b.0.up.weight", "g.0.b.0.down.weight", "g.0.b.1.s.weight",
                                                      "g.0.b.2.up.weight", "g.0.b.2.down.weight", "g.1.b.0.up.weight",
                                                      "g.1.b.0.down.weight", "g.1.b.1.s.weight", "g.1.b.2.up.weight",
                                                      "g.1.b.2.down.weight", "last.weight", "last.bias"});
}

struct relu_in_the_middle : redco::gpt2 {
  using net = redco::layers::transform_blocks<
      redco::gpt2::net, "h", redco::shape::block_range{1, 3},
      instead<redco::layers::activation<&redco::models::gpt2_config::activation>, redco::relu>>;
};

TEST_CASE("a rewritten range of blocks ends with the last block or before") {
  auto const entries = [](std::int64_t layers) {
    relu_in_the_middle const model{{{.vocab = 101, .context = 40, .width = 72, .heads = 6, .layers = layers}}};
    return redco::plan_of(model, {.tp = 2}).entries.size();
  };
  std::size_t const outside = 4, of_block = 16;
  CHECK(entries(7) == outside + 3 * of_block);  // rows [0, 1), [1, 3) and [3, 7)
  CHECK(entries(3) == outside + 2 * of_block);
  for (std::int64_t const layers : {1, 2}) {
    try {
      entries(layers);
      FAIL("accepted");
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::usage);
      CHECK(std::string(e.what()) == "layer 'h' has " + std::to_string(layers) +
                                         " blocks, and a rewrite begins or ends a range of them at 3; choose a range "
                                         "within [0, " +
                                         std::to_string(layers) + ")");
    }
  }
}

TEST_CASE("a model gives the same plan at compile time and at run time") {
  static constexpr redco::gpt2 model{{.vocab = 101, .context = 40, .width = 72, .heads = 6, .layers = 3}};
  for (int const tp : {1, 2, 3, 6}) {
    auto const now = redco::plan_of(model, {.dp = 2, .tp = tp});
    auto const then = redco::plan_of<model>({.dp = 2, .tp = tp});
    REQUIRE(now.entries.size() == then.entries.size());
    for (std::size_t i = 0; i < now.entries.size(); ++i) {
      CHECK(now.entries[i].fact.name == then.entries[i].fact.name);
      CHECK(now.entries[i].local() == then.entries[i].local());
      CHECK(now.entries[i].fact.start == then.entries[i].fact.start);
    }
  }
}

}  // namespace plan_test
