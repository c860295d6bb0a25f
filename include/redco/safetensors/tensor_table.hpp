#pragma once

#include <redco/safetensors/box.hpp>
#include <redco/safetensors/file_dtype.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
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

/// A part of a stored tensor: the file that holds the part, and the box of the part's elements in
/// the unsharded tensor.
struct tensor_part {
  std::string file;
  std::vector<std::int64_t> offset;
  std::vector<std::int64_t> shape;
  /// Name in the file of the tensor that is this part; empty if equal to the name in the table of
  /// tensors.
  std::string name = {};
  /// Shape in the file of a tensor of which this part is only a box, and index of the box's first
  /// element there. Both may have further dimensions before those of the part, in which the box has
  /// extent 1. Empty if the part is a whole tensor of the file.
  std::vector<std::int64_t> whole = {}, begin = {};

  /// Returns the box of the file's tensor that has the elements `from` of this part.
  box in_file(box const& from) const {
    if (whole.empty()) return from;
    box found{begin, from.shape};
    std::size_t const before = begin.size() - from.shape.size();
    found.shape.insert(found.shape.begin(), before, 1);
    for (std::size_t d = 0; d < from.offset.size(); ++d) found.offset[before + d] += from.offset[d];
    return found;
  }

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

/// Calls `visit(part, from, to)` for each part of a stored tensor that shares elements with the box
/// `wanted`. `from` is the box of shared elements relative to the part's first element, and `to` is
/// this box relative to the first element of `wanted`.
template <class Visit>
void for_each_piece(stored_tensor const& tensor, box const& wanted, Visit visit) {
  for (tensor_part const& part : tensor.parts) {
    box const held{part.offset, part.shape};
    if (std::optional<box> const common = intersect(wanted, held))
      visit(part, relative_to(*common, held), relative_to(*common, wanted));
  }
}

/// Calls `visit(box)` for boxes that divide a tensor along its first dimension, in the order of its
/// bytes. A box has at most 16 MiB, but at least one row.
template <class Visit>
void for_each_slab(safetensors_entry const& entry, Visit visit) {
  constexpr std::int64_t most = 16 << 20;
  box slab = whole(entry.shape);
  if (entry.begin == entry.end) return;
  if (entry.shape.empty()) return visit(slab);
  std::int64_t const extent = entry.shape.front();
  std::int64_t const row = static_cast<std::int64_t>(entry.end - entry.begin) / extent;
  std::int64_t const rows = std::max<std::int64_t>(1, most / row);
  for (std::int64_t begin = 0; begin < extent; begin += rows) {
    slab.offset.front() = begin;
    slab.shape.front() = std::min(rows, extent - begin);
    visit(slab);
  }
}

}  // namespace redco::safetensors
