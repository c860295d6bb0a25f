#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace redco::workdir {

/// Returns the words of `text` from the first to the last one that differs from `other`, for
/// messages about long texts. Returns all of `text` if both texts are short.
inline std::string differing_part(std::string_view text, std::string_view other) {
  constexpr std::size_t few = 60;
  constexpr std::string_view between = " ,";
  if (text.size() <= few && other.size() <= few) return std::string(text);
  std::size_t const most = std::min(text.size(), other.size());
  std::size_t front = 0, back = 0;
  while (front < most && text[front] == other[front]) ++front;
  while (back < most - front && text[text.size() - 1 - back] == other[other.size() - 1 - back]) ++back;
  std::size_t const begin = front == 0 ? 0 : text.find_last_of(between, front - 1) + 1;
  std::size_t const end = std::min(text.find_first_of(between, text.size() - back), text.size());
  return (begin > 0 ? "..." : "") + std::string(text.substr(begin, end - begin)) + (end < text.size() ? "..." : "");
}

}  // namespace redco::workdir
