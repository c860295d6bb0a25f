#pragma once

#include <redco/random/philox.hpp>
#include <redco/random/stream.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <numbers>
#include <vector>

namespace redco::random::detail {

/// Returns a double in [0, 1) made of the upper 53 of the 64 bits of two 32-bit words.
constexpr double unit_double(std::uint32_t low, std::uint32_t high) noexcept {
  std::uint64_t const bits = (std::uint64_t{high} << 32 | low) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

}  // namespace redco::random::detail

namespace redco::random {

/// Returns the uniform random number in [0, 1) with the index `index` of a stream. The number has
/// 53 random bits and depends only on (stream, index).
constexpr double uniform_at(stream s, std::uint64_t index) noexcept {
  auto const block =
      philox({static_cast<std::uint32_t>(index / 2), static_cast<std::uint32_t>(index / 2 >> 32), 0, 0}, s);
  return index % 2 == 0 ? detail::unit_double(block[0], block[1]) : detail::unit_double(block[2], block[3]);
}

/// Fills out[0, n) with uniform random numbers of the given mean and standard deviation: out[i] =
/// mean + deviation * sqrt(3) * (2 uniform_at(s, first + i) - 1).
template <std::floating_point Value>
void fill_uniform(Value* out, std::uint64_t first, std::int64_t n, stream s, double mean, double deviation) {
  double const reach = deviation * std::numbers::sqrt3;
  for (std::int64_t i = 0; i < n; ++i)
    out[i] = static_cast<Value>(mean + reach * (2 * uniform_at(s, first + static_cast<std::uint64_t>(i)) - 1));
}

/// Returns a uniform random integer in [0, n), for drawing examples and permutations. The integer
/// depends only on (stream, index, n). Unbiased: a 64-bit number that is not below the largest
/// multiple of n (at most 2^64) is replaced by another number of the same stream and index.
/// Requires n > 0.
constexpr std::uint64_t below(stream s, std::uint64_t index, std::uint64_t n) noexcept {
  std::uint64_t const rest = (0 - n) % n;  // 2^64 mod n
  for (std::uint32_t attempt = 0;; ++attempt) {
    auto const block =
        philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), attempt, 1}, s);
    std::uint64_t const bits = std::uint64_t{block[1]} << 32 | block[0];
    if (bits <= ~rest) return bits % n;
  }
}

/// Returns a Poisson sample of the integers in [0, n), in ascending order: each integer is in the
/// sample with the given probability, independently of the others. The sample may be empty. It
/// depends only on the stream, n and the probability.
inline std::vector<std::int64_t> poisson_sample(stream s, std::int64_t n, double probability) {
  std::vector<std::int64_t> sample;
  for (std::int64_t i = 0; i < n; ++i)
    if (uniform_at(s, static_cast<std::uint64_t>(i)) < probability) sample.push_back(i);
  return sample;
}

}  // namespace redco::random
