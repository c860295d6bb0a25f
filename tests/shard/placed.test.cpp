#include "catch.hpp"

#include <redco/shard/placed.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/relu.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace placed_test {

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

}  // namespace placed_test
