#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace redco::safetensors {

/// A box of elements in a tensor, given by its first index and its extent in every dimension. Both
/// are empty for a scalar.
struct box {
  std::vector<std::int64_t> offset;
  std::vector<std::int64_t> shape;

  friend bool operator==(box const&, box const&) = default;
};

/// Returns the number of elements of a shape; 1 for a scalar.
inline std::int64_t count_of(std::span<std::int64_t const> shape) {
  std::int64_t product = 1;
  for (std::int64_t const size : shape) product *= size;
  return product;
}

/// Returns the box that covers all elements of a tensor of this shape.
inline box whole(std::vector<std::int64_t> const& shape) { return {std::vector<std::int64_t>(shape.size(), 0), shape}; }

/// Returns true if the box `inner` has as many dimensions as `shape` and is completely inside a
/// tensor of this shape.
inline bool inside(box const& inner, std::span<std::int64_t const> shape) {
  if (inner.offset.size() != shape.size() || inner.shape.size() != shape.size()) return false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (inner.offset[d] < 0 || inner.shape[d] < 0 || inner.shape[d] > shape[d] ||
        inner.offset[d] > shape[d] - inner.shape[d])
      return false;
  }
  return true;
}

/// Returns true if a local tensor with extents `local` can hold the elements of the box `held`,
/// beginning at its index 0. Also requires that the box is inside the unsharded tensor, which has
/// shape `shape`.
inline bool has_room(std::span<std::int64_t const> local, box const& held, std::span<std::int64_t const> shape) {
  if (local.size() != shape.size() || !inside(held, shape)) return false;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (held.shape[d] > local[d]) return false;
  return true;
}

/// Returns the elements that two boxes of one tensor share, as a box, or nullopt if they share
/// none.
inline std::optional<box> intersect(box const& a, box const& b) {
  box common = a;
  for (std::size_t d = 0; d < a.offset.size(); ++d) {
    common.offset[d] = std::max(a.offset[d], b.offset[d]);
    common.shape[d] = std::min(a.offset[d] + a.shape[d], b.offset[d] + b.shape[d]) - common.offset[d];
    if (common.shape[d] <= 0) return std::nullopt;
  }
  return common;
}

/// Returns the box `inner` with its first index counted from the first index of `outer`, instead of
/// from index 0 of the tensor.
inline box relative_to(box inner, box const& outer) {
  for (std::size_t d = 0; d < inner.offset.size(); ++d) inner.offset[d] -= outer.offset[d];
  return inner;
}

/// Returns a shape as text for messages, such as "[3, 5]".
inline std::string text_of(std::vector<std::int64_t> const& shape) {
  std::string text = "[";
  for (std::size_t d = 0; d < shape.size(); ++d) text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

}  // namespace redco::safetensors
