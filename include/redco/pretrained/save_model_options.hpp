#pragma once

#include <redco/safetensors/file_dtype.hpp>
#include <redco/shape/dtype.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace redco {

/// How a model is written as a folder. `pretrained::save_options` gives those of the folder that it came from.
struct save_model_options {
  std::optional<dtype> type =
      {};  ///< of floating-point values, rounded to it; nothing: that of `types`, else the parts' own
  std::map<std::string, safetensors::file_dtype> types =
      {};  ///< of single tensors, by their names in the files; only where `type` is nothing
  std::uint64_t file_bytes = 5'000'000'000;  ///< of tensors in one file; a larger tensor has a file of its own
  std::map<std::string, std::filesystem::path> files = {};  ///< copied beside the weights, by their names there
  std::map<std::string, std::string> texts = {};  ///< contents of further files beside the weights, by their names
};

}  // namespace redco
