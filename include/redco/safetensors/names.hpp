#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace redco::safetensors {

/// Returns a name from a file in a form for messages: in quotes, cut after 80 bytes, without
/// control characters.
inline std::string shown(std::string_view name) {
  constexpr std::size_t longest = 80;
  std::string text{name.substr(0, longest)};
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return "\"" + text + (name.size() > longest ? "...\"" : "\"");
}

/// Returns true if `name` can only mean an entry of the directory in which it is looked up. A path,
/// "..", and a hidden name are refused.
inline bool plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name.front() != '.' &&
         std::none_of(name.begin(), name.end(),
                      [](unsigned char c) { return c == '/' || c == '\\' || c < 0x20 || c == 0x7f; });
}

/// Returns true if a tensor may have this name: not empty, at most 4096 bytes, without control
/// characters.
inline bool tensor_name(std::string_view name) {
  return !name.empty() && name.size() <= 4096 &&
         std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

}  // namespace redco::safetensors
