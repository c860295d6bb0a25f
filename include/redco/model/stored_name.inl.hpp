#pragma once

#include <redco/model/stored_name.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>

namespace redco::models::detail {

/// Returns true if `text` is equal to `pattern` with decimal digits in place of each `*`. Then
/// stores these digits in `numbers`.
inline bool matches(std::string_view pattern, std::string_view text, std::vector<std::string>& numbers) {
  numbers.clear();
  while (true) {
    std::size_t const star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == text;
    if (!text.starts_with(pattern.substr(0, star))) return false;
    std::size_t const end = std::min(text.find_first_not_of("0123456789", star), text.size());
    if (end == star) return false;
    numbers.emplace_back(text.substr(star, end - star));
    pattern.remove_prefix(star + 1);
    text.remove_prefix(end);
  }
}

}  // namespace redco::models::detail

namespace redco::models {

REDCO_INLINE stored_match find_stored_name(std::span<stored_name const> names, std::string_view ours) {
  static constexpr stored_name unchanged{};
  if (names.empty()) return {std::string(ours), &unchanged};
  for (stored_name const& row : names) {
    std::vector<std::string> numbers;
    if (!detail::matches(row.ours, ours, numbers)) continue;
    std::string theirs(row.theirs);
    for (std::string const& number : numbers)
      if (std::size_t const star = theirs.find('*'); star != std::string::npos) theirs.replace(star, 1, number);
    return {theirs, &row};
  }
  return {};
}

}  // namespace redco::models
