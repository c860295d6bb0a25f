#pragma once

#include <redco/safetensors/file_dtype.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace redco::safetensors {

/// A part of a tensor: the file that holds it, and its box in the unsharded tensor.
struct tensor_part {
  std::string file;
  std::vector<std::int64_t> offset;
  std::vector<std::int64_t> shape;
  /// Name of the tensor in the file, if it differs from the name in the table.
  std::string name = {};

  friend bool operator==(tensor_part const&, tensor_part const&) = default;
};

/// A tensor on the disk: its type, its logical (unpadded) shape, and the parts that together form
/// the tensor.
struct stored_tensor {
  file_dtype type = file_dtype::f32;
  std::vector<std::int64_t> shape;
  std::vector<tensor_part> parts;

  friend bool operator==(stored_tensor const&, stored_tensor const&) = default;
};

/// A map of stored tensors by name.
using tensor_table = std::map<std::string, stored_tensor>;

}  // namespace redco::safetensors
