#pragma once

#include <redco/safetensors/box.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace redco::safetensors::detail {

/// Where a box begins in a dense row-major array, and how to step through it.
struct dense_place {
  std::span<std::int64_t const> shape;   ///< of the whole array
  std::span<std::int64_t const> offset;  ///< of the box in it
};

/// How many elements of a box of this shape lie one behind the other in a dense row-major array that has it in some place.
inline std::int64_t run_of(std::span<std::int64_t const> array, std::span<std::int64_t const> shape) {
  std::int64_t run = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    run *= shape[d];
    if (shape[d] != array[d]) break;
  }
  return run;
}

/// Calls `visit(source element, target element, elements)` for every run of elements that is contiguous in both arrays,
/// in the order of the source. Requires: the box lies inside both arrays, and all have the same number of dimensions.
template <class Visit>
void for_each_run(dense_place source, dense_place target, std::span<std::int64_t const> shape, Visit visit) {
  std::size_t const rank = shape.size();
  for (std::int64_t const size : shape) {
    if (size == 0) return;
  }
  // A run reaches over every trailing dimension that the box covers whole in both arrays, and into the one before them.
  std::size_t outer = rank;
  std::int64_t run = 1;
  while (outer > 0) {
    --outer;
    run *= shape[outer];
    if (shape[outer] != source.shape[outer] || shape[outer] != target.shape[outer]) break;
  }
  std::vector<std::int64_t> index(outer, 0);
  auto const element = [&](dense_place place) {
    std::int64_t position = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      position = position * place.shape[d] + place.offset[d] + (d < outer ? index[d] : 0);
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
