#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace redco::workdir {

namespace detail {

/// The words of `text` from the first to the last in which it differs from `other`; all of them where they are few.
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

}  // namespace detail

/// What differs between a checkpoint's settings and a run's: "global_batch is 3, was 4; optimizer.lr is 0.1, was 0.02".
/// Empty where nothing does. Names that only one of them has belong to another optimizer or version: they are not told,
/// nor are remarks, whose names begin with #.
inline std::string changed_settings(std::map<std::string, std::string> const& before,
                                    std::map<std::string, std::string> const& now) {
  std::string text;
  for (auto const& [name, was] : before) {
    auto const is = now.find(name);
    if (name.starts_with('#') || is == now.end() || is->second == was) continue;
    text += (text.empty() ? "" : "; ") + name + " is " + detail::differing_part(is->second, was) + ", was " +
            detail::differing_part(was, is->second);
  }
  return text;
}

}  // namespace redco::workdir
