#pragma once

#include <cstddef>
#include <string_view>

namespace redco::meta {

/// Returns true if the whole `name` matches `pattern`. In a pattern, `*` matches any number of
/// characters, including none; `?` matches exactly one character. Every other character matches
/// itself. Takes time proportional to at most the product of both lengths.
constexpr bool glob(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  // Index of the last `*` in the pattern, and the end of the name's part that it matches so far.
  std::size_t star = std::string_view::npos;
  std::size_t swallowed = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      swallowed = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++swallowed;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace redco::meta
