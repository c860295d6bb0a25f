#pragma once

#include <redco/safetensors/box.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace redco::safetensors::detail {

/// A position of a box in a dense row-major array: the array's shape and the first index of the
/// box.
struct dense_array {
  std::span<std::int64_t const> shape;   ///< Shape of the whole array that contains the box
  std::span<std::int64_t const> offset;  ///< Index in the array of the first element of the box
};

/// Returns the number of elements of each contiguous piece of a box in a dense row-major array.
/// `array` is the shape of the array, and `shape` is the shape of the box. The position of the box
/// does not matter.
inline std::int64_t run_of(std::span<std::int64_t const> array, std::span<std::int64_t const> shape) {
  std::int64_t run = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    run *= shape[d];
    if (shape[d] != array[d]) break;
  }
  return run;
}

/// Calls `visit(source element, target element, elements)` for each piece of a box that is
/// contiguous in two arrays, in the order of the source array. `shape` is the shape of the box. The
/// box must be inside both arrays, which have its number of dimensions.
template <class Visit>
void for_each_run(dense_array source, dense_array target, std::span<std::int64_t const> shape, Visit visit) {
  std::size_t const rank = shape.size();
  for (std::int64_t const size : shape) {
    if (size == 0) return;
  }
  // A run covers all trailing dimensions that the box covers completely in both arrays, and its
  // extent in the dimension before them.
  std::size_t outer = rank;
  std::int64_t run = 1;
  while (outer > 0) {
    --outer;
    run *= shape[outer];
    if (shape[outer] != source.shape[outer] || shape[outer] != target.shape[outer]) break;
  }
  std::vector<std::int64_t> index(outer, 0);
  auto const element = [&](dense_array array) {
    std::int64_t position = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      position = position * array.shape[d] + array.offset[d] + (d < outer ? index[d] : 0);
    }
    return position;
  };
  while (true) {
    visit(element(source), element(target), run);
    std::size_t d = outer;
    while (d > 0 && ++index[d - 1] == shape[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace redco::safetensors::detail
