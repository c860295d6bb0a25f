#pragma once

#include <cstdint>
#include <limits>

namespace redco {

/// Largest representable count; sums and products that overflow 63 bits saturate to it.
inline constexpr std::int64_t saturated = std::numeric_limits<std::int64_t>::max();

/// Returns a + b (saturating_add) or a * b (saturating_multiply), or `saturated` if the result
/// overflows. Requires a, b >= 0.
constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) { return a > saturated - b ? saturated : a + b; }
constexpr std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  return a != 0 && b > saturated / a ? saturated : a * b;
}

}  // namespace redco
