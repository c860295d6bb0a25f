#pragma once

#include <redco/safetensors/box.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/safetensors/safetensors_reader.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace redco::safetensors {

/// Throws `error` with exit code 65 unless the file has a tensor with the given name, dtype and
/// shape.
inline void check_entry(safetensors_reader const& file, std::string const& name, file_dtype type,
                        std::vector<std::int64_t> const& shape) {
  safetensors_entry const* const entry = file.find(name);
  if (entry != nullptr && entry->type == type && entry->shape == shape) return;
  std::string const found = entry == nullptr ? "none" : std::string(name_of(entry->type)) + " " + text_of(entry->shape);
  throw error(exit_code::data, file.path().string() + " should hold tensor " + shown(name) + " as " +
                                   std::string(name_of(type)) + " " + text_of(shape) + " and holds " + found +
                                   ": it is not the file that was saved. Resume from another checkpoint.");
}

}  // namespace redco::safetensors
