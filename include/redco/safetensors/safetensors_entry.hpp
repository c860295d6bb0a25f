#pragma once

#include <redco/safetensors/file_dtype.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace redco::safetensors {

/// A description of one tensor in a safetensors file: name, type, shape, and byte range. The range
/// counts from the first byte after the header.
struct safetensors_entry {
  std::string name;
  file_dtype type = file_dtype::f32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  friend bool operator==(safetensors_entry const&, safetensors_entry const&) = default;
};

}  // namespace redco::safetensors
