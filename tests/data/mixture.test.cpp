#include "catch.hpp"
#include "refused.hpp"

#include <redco/data/mixture.hpp>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using redco::data::mixture;
using redco::data::mixture_options;

static_assert(redco::data::example_range<mixture<std::string>>);
static_assert(std::random_access_iterator<mixture<std::string>::iterator>);

/// Returns `count` examples with the values first, first + 1, ...
std::vector<int> numbers(int first, int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), first);
  return all;
}

}  // namespace

TEST_CASE("every prefix of a mixture has the share of each source to within one example") {
  for (std::vector<double> const& weights : {std::vector<double>{0.7, 0.2, 0.1},
                                             {1},
                                             {3, 1},
                                             {1, 1, 1, 1, 1, 1, 1},
                                             {5, 1, 1, 1, 1, 1},
                                             {0.5, 0.25, 0.15, 0.1},
                                             {1, 999},
                                             {0.9, 0.05, 0.03, 0.02}}) {
    redco::data::detail::shares const order(weights, weights.size());
    double const total = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<std::int64_t> seen(weights.size(), 0);
    double farthest = 0;
    bool counted = true;
    for (std::int64_t n = 1; n <= 5000; ++n) {
      auto const [source, position] = order.at(n - 1);
      counted = counted && position == seen[source];
      ++seen[source];
      for (std::size_t s = 0; s < weights.size(); ++s)
        farthest =
            std::max(farthest, std::abs(static_cast<double>(seen[s]) - static_cast<double>(n) * weights[s] / total));
    }
    CHECK(counted);
    CHECK(farthest < 1);
  }
}

TEST_CASE("weights that are no small fractions are rounded to 1/65536") {
  double const third = 1 / std::exp(1.0);
  redco::data::detail::shares const order({third, 1 - third}, 2);
  CHECK(order.counts() == std::vector<std::int64_t>{24109, 65536 - 24109});
  CHECK(redco::data::detail::shares({0.2, 0.7, 0.1}, 3).counts() == std::vector<std::int64_t>{2, 7, 1});
  CHECK(redco::data::detail::shares({1e-12, 1, 1}, 3).counts() == std::vector<std::int64_t>{1, 32768, 32767});
}

TEST_CASE("a source gives each example once in a pass, and passes have different orders") {
  std::vector<int> const small = numbers(0, 10), large = numbers(100, 50);
  mixture const all({.weights = {1, 1}, .seed = 5}, small, large);
  CHECK(all.size() == 100);  // the large source once, the small one five times
  std::vector<std::vector<int>> passes(5);
  std::set<int> of_large;
  for (std::size_t i = 0, drawn = 0; i < all.size(); ++i) {
    int const example = all[static_cast<std::ptrdiff_t>(i)];
    CHECK(all.source_of(static_cast<std::int64_t>(i)) == (example < 100 ? 0U : 1U));
    if (example < 100) passes[drawn++ / 10].push_back(example);
    else of_large.insert(example);
  }
  CHECK(of_large.size() == 50);
  for (auto const& pass : passes) CHECK(std::set<int>(pass.begin(), pass.end()).size() == 10);
  CHECK(passes[0] != passes[1]);
  CHECK(passes[0] != small);
}

TEST_CASE("a mixture is a pure function of index and seed") {
  std::vector<int> const a = numbers(0, 40), b = numbers(100, 40);
  auto const values = [&](std::uint64_t seed) {
    mixture const all({.weights = {3, 1}, .seed = seed, .size = 64}, a, b);
    return std::vector<int>(all.begin(), all.end());
  };
  CHECK(values(1).size() == 64);
  CHECK(values(1) == values(1));
  CHECK(values(1) != values(2));
  mixture const all({.weights = {3, 1}, .seed = 1, .size = 64}, a, b);
  std::vector<int> const first = values(1);
  for (std::ptrdiff_t i = 63; i >= 0; --i) CHECK(all[i] == first[static_cast<std::size_t>(i)]);
  // Sources of equal size have different orders.
  mixture const equal({.weights = {1, 1}, .seed = 1}, a, b);
  std::vector<int> of_a, of_b;
  for (int const example : std::vector<int>(equal.begin(), equal.end()))
    example < 100 ? of_a.push_back(example) : of_b.push_back(example - 100);
  CHECK(of_a != of_b);
}

TEST_CASE("a mixture keeps rvalues, refers to lvalues, and converts examples") {
  auto const kept = [] { return mixture({.weights = {1}}, std::vector<std::string>{"only"}); }();
  CHECK(kept[0] == "only");
  std::vector<int> changed{1};
  mixture<double> const all({.weights = {1, 1}}, changed, std::vector<double>{2.5});
  changed[0] = 7;
  CHECK(std::multiset<double>(all.begin(), all.end()) == std::multiset<double>{2.5, 7});
  mixture const nested({.weights = {1}}, mixture({.weights = {1}}, numbers(3, 1)));
  CHECK(nested[0] == 3);
}

TEST_CASE("wrong weights and empty sources are refused") {
  std::vector<int> const a = numbers(0, 4), none;
  CHECK(refused([&] {
          mixture({.weights = {1, 2}}, a);
        }) == "64 a mixture of 1 sources has 2 weights; give one weight for each source");
  CHECK(refused([&] { mixture({.weights = {1, 0}}, a, a); }).find("64 weight 1 of a mixture is 0") == 0);
  CHECK(refused([&] { mixture({.weights = {-1, 1}}, a, a); }).find("64 weight 0") == 0);
  CHECK(refused([&] { mixture({.weights = {1, NAN}}, a, a); }).find("64 weight 1") == 0);
  CHECK(refused([&] { mixture({.weights = {1, 1}}, a, none); }).find("65 the data set has 0 examples") == 0);
}
