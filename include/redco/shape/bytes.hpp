#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>

namespace redco::shape {

/// Returns n KiB (2^10 bytes) in bytes. Requires n >= 0 and a result below 2^63; a constant
/// expression with a larger result does not compile.
constexpr std::int64_t KiB(std::int64_t n) { return n * 1024; }
/// Returns n MiB (2^20 bytes) in bytes. Requires n >= 0 and a result below 2^63.
constexpr std::int64_t MiB(std::int64_t n) { return KiB(n) * 1024; }

/// Largest value of a count or a number of bytes, 2^63 - 1. saturating_add() and
/// saturating_multiply() return it instead of overflowing.
inline constexpr std::int64_t saturated = std::numeric_limits<std::int64_t>::max();

/// `saturating_add` returns a + b, and `saturating_multiply` returns a * b. Both return `saturated`
/// if the result exceeds 63 bits. Require a, b >= 0.
constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) { return a > saturated - b ? saturated : a + b; }
constexpr std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  return a != 0 && b > saturated / a ? saturated : a * b;
}

/// Returns the largest of `numbers`, which must be >= 0; returns 0 for an empty list. Used instead
/// of std::max in plans, because <algorithm> is slow to compile.
constexpr std::int64_t largest(std::initializer_list<std::int64_t> numbers) {
  std::int64_t most = 0;
  for (std::int64_t const n : numbers) most = n > most ? n : most;
  return most;
}

}  // namespace redco::shape

namespace redco {

/// Returns n GiB (2^30 bytes) in bytes: `redco::GiB(4)`. Requires n >= 0 and a result below 2^63.
constexpr std::int64_t GiB(std::int64_t n) { return shape::MiB(n) * 1024; }

}  // namespace redco
