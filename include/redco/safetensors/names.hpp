#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace redco::safetensors {

/// Returns a name from a file for messages: in quotes, cut after 80 bytes, without control
/// characters.
inline std::string shown(std::string_view name) {
  constexpr std::size_t longest = 80;
  std::string text{name.substr(0, longest)};
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return "\"" + text + (name.size() > longest ? "...\"" : "\"");
}

/// Returns true if `name` can only denote a file directly in a directory. Returns false for a path
/// with "/", for "..", and for a hidden name, which begins with a dot.
inline bool plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name.front() != '.' &&
         std::none_of(name.begin(), name.end(),
                      [](unsigned char c) { return c == '/' || c == '\\' || c < 0x20 || c == 0x7f; });
}

/// Returns true if `name` is a valid name of a tensor: not empty, at most 4096 bytes, and without
/// control characters.
inline bool tensor_name(std::string_view name) {
  return !name.empty() && name.size() <= 4096 &&
         std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

}  // namespace redco::safetensors
