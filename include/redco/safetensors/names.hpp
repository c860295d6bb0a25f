#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

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

/// Returns the names of files in a folder that contain weights in formats other than safetensors:
/// pickles, which can run code, and files of other frameworks.
inline std::vector<std::string> other_weights(std::filesystem::path const& folder) {
  constexpr std::array<std::string_view, 6> names{"pytorch_model.bin", "pytorch_model.bin.index.json",
                                                  "tf_model.h5",       "flax_model.msgpack",
                                                  "rust_model.ot",     "model.onnx"};
  std::vector<std::string> found;
  std::error_code unknown;  // files that cannot be read are not listed
  for (std::string_view const name : names)
    if (std::filesystem::exists(folder / name, unknown)) found.emplace_back(name);
  return found;
}

}  // namespace redco::safetensors
