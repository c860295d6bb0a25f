#pragma once

#include <redco/random/philox.hpp>
#include <redco/random/random_words.hpp>
#include <redco/random/stream.hpp>
#include <redco/random/uniform.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <numbers>
#include <utility>

namespace redco::random::detail {

/// Returns two independent standard normal numbers, computed in f64 from four random 32-bit words
/// by the Box-Muller method (1958).
inline std::pair<double, double> normal_pair(std::uint32_t const* words) {
  double const radius = std::sqrt(-2.0 * std::log(1.0 - unit_double(words[0], words[1])));
  double const angle = 2.0 * std::numbers::pi * unit_double(words[2], words[3]);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

}  // namespace redco::random::detail

namespace redco::random {

/// Returns the standard normal number with the index `index` of a stream. The number depends only
/// on (stream, index), so each shard can fill its part of a tensor by global element indices.
/// Results are bit-equal on all meshes of one machine. On two machines the last bit may differ if
/// their C libraries compute log, sin or cos differently.
inline double normal_at(stream s, std::uint64_t index) {
  auto const block =
      philox({static_cast<std::uint32_t>(index / 2), static_cast<std::uint32_t>(index / 2 >> 32), 0, 0}, s);
  auto const pair = detail::normal_pair(block.data());
  return index % 2 == 0 ? pair.first : pair.second;
}

/// Fills out[0, n) with normal numbers: out[i] = mean + deviation * normal_at(s, first + i),
/// computed in f64 and rounded once to `Value`.
template <std::floating_point Value>
void fill_normal(Value* out, std::uint64_t first, std::int64_t n, stream s, double mean = 0.0, double deviation = 1.0) {
  // number of pairs; a group never crosses a multiple of 2^32 pairs
  constexpr std::uint64_t group = 128;
  std::uint32_t words[4 * group];
  auto const put = [&](std::int64_t i, double value) {
    if (0 <= i && i < n) out[i] = static_cast<Value>(mean + deviation * value);
  };
  std::uint64_t const last = first + static_cast<std::uint64_t>(n);
  for (std::uint64_t pair = first / 2; 2 * pair < last;) {
    std::uint64_t const pairs = std::min({group - pair % group, (last + 1) / 2 - pair});
    random_words(words, static_cast<std::int64_t>(pair % (std::uint64_t{1} << 32)) * 4,
                 static_cast<std::int64_t>(4 * pairs), static_cast<std::uint32_t>(pair >> 32), 0, 0, s);
    for (std::uint64_t i = 0; i < pairs; ++i, ++pair) {
      auto const values = detail::normal_pair(words + 4 * i);
      std::int64_t const at = static_cast<std::int64_t>(2 * pair - first);
      put(at, values.first);
      put(at + 1, values.second);
    }
  }
}

/// Returns the number with the index `index` of a stream from the standard normal distribution
/// truncated to [-bound, bound]. A number outside is rejected and replaced by another number of the
/// same index. The result therefore depends only on (stream, index, bound). Requires bound >= 0.1.
inline double truncated_normal_at(stream s, std::uint64_t index, double bound = 2.0) {
  for (std::uint32_t attempt = 0;; ++attempt) {
    auto const block =
        philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), attempt, 2}, s);
    auto const pair = detail::normal_pair(block.data());
    if (std::abs(pair.first) <= bound) return pair.first;
    if (std::abs(pair.second) <= bound) return pair.second;
  }
}

}  // namespace redco::random
