#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace redco::meta {

/// Returns `text` without the characters of `blanks` at its beginning and its end.
constexpr std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n") {
  std::size_t const begin = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

}  // namespace redco::meta
