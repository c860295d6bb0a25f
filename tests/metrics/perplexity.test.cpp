#include "catch.hpp"

#include <redco/metrics/perplexity.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace perplexity_test {

using redco::metrics::perplexity;
using numbers = std::vector<double>;
using counts = std::vector<std::int64_t>;

// A uniform choice of V tokens has the cross-entropy log V for each token.
TEST_CASE("the perplexity of a uniform distribution is its number of tokens") {
  CHECK(perplexity(12 * std::log(50257.0), 12) == Approx(50257).epsilon(1e-12));
  CHECK(perplexity(0, 7) == 1);
}

TEST_CASE("the perplexity of batches weighs each token, not each batch") {
  CHECK(perplexity(numbers{3 * std::log(2.0), 1 * std::log(32.0), 0}, counts{3, 1, 0}) == Approx(4).epsilon(1e-12));
  CHECK(perplexity(std::vector<float>{1, 2}, std::vector<int>{2, 4}) == Approx(std::exp(0.5)).epsilon(1e-12));
}

TEST_CASE("the perplexity of an impossible token is infinite") {
  double const infinity = std::numeric_limits<double>::infinity();
  CHECK(perplexity(infinity, 3) == infinity);
  CHECK(perplexity(numbers{1, infinity}, counts{1, 1}) == infinity);
  CHECK(perplexity(1e6, 1) == infinity);
}

TEST_CASE("perplexity refuses no tokens, negative counts and a loss of NaN") {
  auto const message_of = [](auto const& losses, auto const& of) {
    try {
      perplexity(losses, of);
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::data);
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  double const nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  CHECK(message_of(2.5, 0).find("over 0 tokens") != std::string::npos);
  CHECK(message_of(nan, 4).find("over 4 tokens") != std::string::npos);
  CHECK(message_of(-infinity, 4).find("over 4 tokens") != std::string::npos);
  CHECK(message_of(numbers{}, counts{}).find("over 0 tokens") != std::string::npos);
  CHECK(message_of(numbers{1, 2}, counts{1}).find("2 losses and 1 counts") != std::string::npos);
  CHECK(message_of(numbers{1, nan}, counts{1, 1}).find("batch 1 of 2") != std::string::npos);
  CHECK(message_of(numbers{1, 1}, counts{3, -1}).find("-1 tokens") != std::string::npos);
}

}  // namespace perplexity_test
