#pragma once

#include <redco/random/philox.hpp>
#include <redco/random/stream.hpp>

#include <cstdint>

namespace redco::random {

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

}  // namespace redco::random
