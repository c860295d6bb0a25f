#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace redco::safetensors {

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
