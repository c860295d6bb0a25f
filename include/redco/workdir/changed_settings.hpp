#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
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

/// Returns a description of the settings that differ between a checkpoint (`before`) and a run
/// (`now`), such as "global_batch is 3, was 4; optimizer.lr is 0.1, was 0.02". Returns an empty
/// text if none differ. Skips remarks (names that begin with #), and names that only one of the two
/// maps has, because they belong to another optimizer or version.
inline std::string changed_settings(std::map<std::string, std::string> const& before,
                                    std::map<std::string, std::string> const& now) {
  std::string text;
  for (auto const& [name, was] : before) {
    auto const is = now.find(name);
    if (name.starts_with('#') || is == now.end() || is->second == was) continue;
    text += (text.empty() ? "" : "; ") + name + " is " + differing_part(is->second, was) + ", was " +
            differing_part(was, is->second);
  }
  return text;
}

/// Returns a sentence about the digests that differ between a checkpoint (`before`) and a run
/// (`now`), such as "other training examples (digest 0f.., was 1a..)"; empty if none differ. Skips
/// digests that only one of the two has.
inline std::string changed_digests(std::map<std::string, std::string> const& before,
                                   std::map<std::string, std::string> const& now) {
  std::string text;
  for (auto const& [name, was] : before)
    if (auto const is = now.find(name); is != now.end() && is->second != was)
      text += (text.empty() ? "" : " and ") + ("another or changed " + name) + " (digest " + is->second + ", was " +
              was + ")";
  return text;
}

}  // namespace redco::workdir
