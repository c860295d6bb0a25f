#pragma once

#include <redco/pretrained/save_model_options.hpp>
#include <redco/safetensors/file_dtype.hpp>

#include <redco/diag/error.hpp>

#include <optional>
#include <string>

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
