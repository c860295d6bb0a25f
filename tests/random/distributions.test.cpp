#include <redco/random/normal.hpp>
#include <redco/random/uniform.hpp>

#include "catch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

constexpr redco::random::stream distribution_stream = redco::random::make_stream(42, 3, 5, 7);

}  // namespace

TEST_CASE("normal numbers filled in parts are bit-equal to normal numbers drawn one by one") {
  std::vector<double> whole(1001);
  redco::random::fill_normal(whole.data(), 77, 1001, distribution_stream);
  std::int64_t wrong = 0;
  for (std::uint64_t i = 0; i < 1001; ++i) wrong += whole[i] != redco::random::normal_at(distribution_stream, 77 + i);
  CHECK(wrong == 0);
  std::vector<double> parts(1001);
  std::uint64_t at = 0;
  for (std::int64_t n : {1, 0, 2, 255, 3, 740}) {
    redco::random::fill_normal(parts.data() + at, 77 + at, n, distribution_stream);
    at += static_cast<std::uint64_t>(n);
  }
  REQUIRE(at == 1001);
  CHECK(parts == whole);
}

TEST_CASE("normal numbers beyond 2^33 depend on the high half of the index") {
  std::uint64_t const far = (std::uint64_t{1} << 33) - 3;
  std::array<double, 9> values{};
  redco::random::fill_normal(values.data(), far, 9, distribution_stream);
  for (std::uint64_t i = 0; i < values.size(); ++i)
    CHECK(values[i] == redco::random::normal_at(distribution_stream, far + i));
  CHECK(values[3] != redco::random::normal_at(distribution_stream, 0));
}

TEST_CASE("normal numbers in float are the doubles rounded once, scaled and moved") {
  std::array<float, 37> values{};
  redco::random::fill_normal(values.data(), 5, 37, distribution_stream, 3.0, 0.02);
  for (std::uint64_t i = 0; i < values.size(); ++i)
    CHECK(values[i] == static_cast<float>(3.0 + 0.02 * redco::random::normal_at(distribution_stream, 5 + i)));
}

TEST_CASE("normal numbers have the moments and tails of the normal distribution") {
  constexpr std::int64_t n = 400000;
  std::vector<double> x(n);
  redco::random::fill_normal(x.data(), 0, n, distribution_stream);
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, neighbours = 0, beyond = 0;
  for (std::size_t i = 0; i < n; ++i) {
    m1 += x[i] / n, m2 += x[i] * x[i] / n, m3 += std::pow(x[i], 3) / n, m4 += std::pow(x[i], 4) / n;
    neighbours += x[i] * x[i ^ 1] / n;
    beyond += std::abs(x[i]) > 2;
  }
  double const unit = 1 / std::sqrt(double(n));
  CHECK(std::abs(m1) < 4 * unit);
  CHECK(std::abs(m2 - 1) < 4 * std::sqrt(2.0) * unit);
  CHECK(std::abs(m3) < 4 * std::sqrt(15.0) * unit);
  CHECK(std::abs(m4 - 3) < 4 * std::sqrt(96.0) * unit);
  CHECK(std::abs(neighbours) < 6 * unit);
  CHECK(beyond / n == Approx(0.0455).epsilon(0.03));
}

TEST_CASE("truncated normal numbers stay inside and have the variance of the cut distribution") {
  constexpr int n = 200000;
  double mean = 0, square = 0, largest = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    double const x = redco::random::truncated_normal_at(distribution_stream, i);
    mean += x / n, square += x * x / n, largest = std::max(largest, std::abs(x));
  }
  CHECK(largest <= 2.0);
  CHECK(largest > 1.99);
  CHECK(std::abs(mean) < 0.008);
  CHECK(square == Approx(0.7737).epsilon(0.01));
}

TEST_CASE("uniform numbers fill the unit interval evenly") {
  std::array<int, 10> bins{};
  for (std::uint64_t i = 0; i < 100000; ++i) {
    double const u = redco::random::uniform_at(distribution_stream, i);
    REQUIRE((0.0 <= u && u < 1.0));
    ++bins[static_cast<std::size_t>(u * 10)];
  }
  for (int count : bins) CHECK(std::abs(count - 10000) < 400);
}

TEST_CASE("integers below n are uniform, and for a large n are drawn again rather than folded") {
  std::array<int, 7> bins{};
  for (std::uint64_t i = 0; i < 70000; ++i) ++bins[redco::random::below(distribution_stream, i, 7)];
  for (int count : bins) CHECK(std::abs(count - 10000) < 400);
  std::uint64_t const large =
      (std::uint64_t{1} << 63) + (std::uint64_t{1} << 62);  // folding would double the first third
  int low = 0;
  for (std::uint64_t i = 0; i < 30000; ++i) low += redco::random::below(distribution_stream, i, large) < large / 3;
  CHECK(std::abs(low - 10000) < 400);
}

TEST_CASE("uniform numbers of a deviation are within its range and bit-equal when filled in parts") {
  constexpr std::int64_t n = 40000;
  std::vector<float> whole(n), parts(n);
  redco::random::fill_uniform(whole.data(), 5, n, distribution_stream, 1.0, 0.5);
  redco::random::fill_uniform(parts.data(), 5, 99, distribution_stream, 1.0, 0.5);
  redco::random::fill_uniform(parts.data() + 99, 104, n - 99, distribution_stream, 1.0, 0.5);
  CHECK(parts == whole);
  double sum = 0, squares = 0, farthest = 0;
  for (float const value : whole) {
    double const off = static_cast<double>(value) - 1;
    sum += off, squares += off * off, farthest = std::max(farthest, std::abs(off));
  }
  CHECK(std::abs(sum / n) < 0.01);
  CHECK(std::sqrt(squares / n) == Approx(0.5).epsilon(0.01));
  CHECK((farthest > 0.86 && farthest <= 0.5 * std::sqrt(3.0)));
}

TEST_CASE("a Poisson sample has each index independently with its probability") {
  constexpr std::int64_t n = 7;
  std::vector<int> alone(n), together(n);
  std::size_t empty = 0;
  for (std::uint64_t step = 0; step < 20000; ++step) {
    auto const sample = redco::random::poisson_sample(redco::random::make_stream(42, 5, step, 0), n, 0.3);
    REQUIRE(std::is_sorted(sample.begin(), sample.end()));
    REQUIRE(std::adjacent_find(sample.begin(), sample.end()) == sample.end());
    empty += sample.empty();
    bool const first = !sample.empty() && sample.front() == 0;
    for (std::int64_t const i : sample) {
      ++alone[static_cast<std::size_t>(i)];
      together[static_cast<std::size_t>(i)] += first;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    CHECK(std::abs(alone[i] - 6000) < 300);
    CHECK(std::abs(together[i] - (i == 0 ? 6000 : 1800)) < 250);
  }
  CHECK(std::abs(static_cast<double>(empty) - 20000 * std::pow(0.7, 7)) < 180);
  redco::random::stream const key = redco::random::make_stream(1, 2, 3, 4);
  CHECK(redco::random::poisson_sample(key, 900, 1).size() == 900);
  auto const small = redco::random::poisson_sample(key, 50, 0.5), large = redco::random::poisson_sample(key, 90, 0.5);
  CHECK(std::equal(small.begin(), small.end(), large.begin()));
}
