#pragma once

#include <redco/safetensors/file_dtype.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace redco::safetensors {

/// Where a part of a tensor lies: the file, and the box that it fills of the unsharded tensor.
struct tensor_part {
  std::string file;
  std::vector<std::int64_t> offset;
  std::vector<std::int64_t> shape;
  std::string name = {};  ///< of the tensor in the file, where the table names it otherwise

  friend bool operator==(tensor_part const&, tensor_part const&) = default;
};

/// A tensor on the disk: its type, its logical (unpadded) shape, and the parts that together make it whole.
struct stored_tensor {
  file_dtype type = file_dtype::f32;
  std::vector<std::int64_t> shape;
  std::vector<tensor_part> parts;

  friend bool operator==(stored_tensor const&, stored_tensor const&) = default;
};

/// By name.
using tensor_table = std::map<std::string, stored_tensor>;

}  // namespace redco::safetensors
