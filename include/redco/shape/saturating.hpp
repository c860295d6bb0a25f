#pragma once

#include <cstdint>
#include <limits>

namespace redco::shape {

/// Largest value of a count or a number of bytes, 2^63 - 1. saturating_add() and
/// saturating_multiply() return it instead of overflowing.
inline constexpr std::int64_t saturated = std::numeric_limits<std::int64_t>::max();

/// `saturating_add` returns a + b, and `saturating_multiply` returns a * b. Both return `saturated`
/// if the result exceeds 63 bits. Require a, b >= 0.
constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) { return a > saturated - b ? saturated : a + b; }
constexpr std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  return a != 0 && b > saturated / a ? saturated : a * b;
}

}  // namespace redco::shape
