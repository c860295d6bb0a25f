#pragma once

#include <redco/safetensors/file_dtype.hpp>
#include <redco/shape/dtype.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace redco {

/// A set of options for writing a model to a Hugging Face model folder. `pretrained_folder::save_options`
/// returns the options to write a folder like the one that was read.
struct save_model_options {
  /// Type of all floating-point tensors in the files, to which values are rounded. If nullopt, the
  /// member `types` gives the type of a tensor; a tensor that is not in `types` keeps the type of
  /// its parameter.
  std::optional<dtype> type = {};
  /// Types of single tensors, by name in the files. Used only if the member `type` is nullopt.
  std::map<std::string, safetensors::file_dtype> types = {};
  /// Maximum bytes of tensors in one file. A larger tensor gets a file of its own.
  std::uint64_t file_bytes = 5'000'000'000;
  /// Files to copy into the folder of the weights: name in the folder -> path of the source.
  std::map<std::string, std::filesystem::path> files = {};
  /// Further files to write into the folder of the weights: name in the folder -> contents.
  std::map<std::string, std::string> texts = {};
};

}  // namespace redco
