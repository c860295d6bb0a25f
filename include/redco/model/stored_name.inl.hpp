#pragma once

#include <redco/model/stored_name.hpp>

#include <redco/config.hpp>

#include <cstddef>

namespace redco::models::detail {

/// Returns true if `text` is equal to `pattern` with decimal digits in place of `*`. Then stores
/// these digits in `number`.
inline bool matches(std::string_view pattern, std::string_view text, std::string& number) {
  std::size_t const star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  std::string_view const before = pattern.substr(0, star), after = pattern.substr(star + 1);
  if (!text.starts_with(before)) return false;
  std::size_t const end = text.find_first_not_of("0123456789", star);
  if (end == std::string_view::npos || end == star || text.substr(end) != after) return false;
  number = text.substr(star, end - star);
  return true;
}

}  // namespace redco::models::detail

namespace redco::models {

REDCO_INLINE stored_match find_stored_name(std::span<stored_name const> names, std::string_view ours) {
  static constexpr stored_name unchanged{};
  if (names.empty()) return {std::string(ours), &unchanged};
  for (stored_name const& row : names) {
    std::string number;
    if (!detail::matches(row.ours, ours, number)) continue;
    std::string theirs(row.theirs);
    if (std::size_t const star = theirs.find('*'); star != std::string::npos) theirs.replace(star, 1, number);
    return {theirs, &row};
  }
  return {};
}

}  // namespace redco::models
