#pragma once

#include <redco/safetensors/file_dtype.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace redco {

/// A set of options for writing a model to a Hugging Face model folder.
/// `pretrained_folder::save_options` returns the options to write a folder like the one that was
/// read.
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

namespace redco::pretrained {

/// Returns the type in which the floating-point tensor `name` is written to a file, or nullopt if
/// it keeps its own type.
inline std::optional<safetensors::file_dtype> type_to_save(save_model_options const& options, std::string const& name) {
  if (options.type) return safetensors::file_dtype_of(*options.type);
  auto const known = options.types.find(name);
  if (known == options.types.end() || !safetensors::floating(known->second)) return std::nullopt;
  return known->second;
}

/// Throws `error` with exit code 64 if `options.type`, the type in which tensors are written, is an
/// integer type.
inline void check_type_to_save(save_model_options const& options) {
  if (options.type && !safetensors::floating(safetensors::file_dtype_of(*options.type)))
    throw error(exit_code::usage, "weights cannot be saved as " + std::string(name_of(*options.type)) +
                                      ": they are no whole numbers. Choose f64, f32, bf16 or f16.");
}

}  // namespace redco::pretrained
