#pragma once

#include <redco/safetensors/file_dtype.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace redco::safetensors {

/// A part of a stored tensor: the file that holds the part, and the box of the part's elements in
/// the unsharded tensor.
struct tensor_part {
  std::string file;
  std::vector<std::int64_t> offset;
  std::vector<std::int64_t> shape;
  /// Name in the file of the tensor that is this part; empty if equal to the name in the table of
  /// tensors.
  std::string name = {};

  friend bool operator==(tensor_part const&, tensor_part const&) = default;
};

/// A tensor on the disk: its type, its logical (unpadded) shape, and the parts in files that
/// together form the tensor.
struct stored_tensor {
  file_dtype type = file_dtype::f32;
  std::vector<std::int64_t> shape;
  std::vector<tensor_part> parts;

  friend bool operator==(stored_tensor const&, stored_tensor const&) = default;
};

/// A map from names to stored tensors.
using tensor_table = std::map<std::string, stored_tensor>;

}  // namespace redco::safetensors
