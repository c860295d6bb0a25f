#pragma once

#include <cstdint>
#include <limits>

namespace redco {

/// What a count or a number of bytes becomes when it does not fit into 63 bits.
inline constexpr std::int64_t saturated = std::numeric_limits<std::int64_t>::max();

/// a + b and a * b of numbers that are not negative, or `saturated`.
constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) { return a > saturated - b ? saturated : a + b; }
constexpr std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  return a != 0 && b > saturated / a ? saturated : a * b;
}

}  // namespace redco
