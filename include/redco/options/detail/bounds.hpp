#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace redco::options::detail {

/// The smallest and the largest number that an option accepts.
struct bounds {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();

  /// Returns true if `value` is outside of the bounds.
  template <class Number>
  constexpr bool exclude(Number value) const {
    return value < static_cast<Number>(least) || value > static_cast<Number>(most);
  }

  /// Returns the bounds as text, such as "1 or more", "at most 9" or "0 to 1"; empty for none.
  std::string text() const {
    bool const has_least = least != std::numeric_limits<std::int64_t>::min();
    bool const has_most = most != std::numeric_limits<std::int64_t>::max();
    if (has_least && has_most) return std::to_string(least) + " to " + std::to_string(most);
    if (has_least) return std::to_string(least) + " or more";
    return has_most ? "at most " + std::to_string(most) : "";
  }
};

}  // namespace redco::options::detail
