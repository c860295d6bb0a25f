#pragma once

#include <redco/safetensors/file_dtype.hpp>
#include <redco/shape/dtype.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace redco {

/// Options for writing a model as a folder. `pretrained::save_options` returns the options for a
/// copy of the folder that was read.
struct save_model_options {
  /// Type of all floating-point tensors, to which values are rounded. If nullopt, `types` decides,
  /// or else the type of the parameter.
  std::optional<dtype> type = {};
  std::map<std::string, safetensors::file_dtype> types =
      {};  ///< Types of single tensors by name in the files; used only if `type` is nullopt.
  /// Maximum bytes of tensors per file. A larger tensor gets a file of its own.
  std::uint64_t file_bytes = 5'000'000'000;
  /// Files to copy next to the weights: name in the folder -> source path
  std::map<std::string, std::filesystem::path> files = {};
  /// Further files to write next to the weights: name in the folder -> contents
  std::map<std::string, std::string> texts = {};
};

}  // namespace redco
