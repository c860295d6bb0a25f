#pragma once

#include <cstddef>
#include <string_view>

namespace redco::meta {

/// Whether `name` matches `pattern` as a whole: `*` stands for any run of characters (an empty one too), `?` for
/// exactly one, everything else for itself. Time is at most pattern times name.
constexpr bool glob(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;  // the last `*` seen, and how much of the name it has swallowed so far
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
