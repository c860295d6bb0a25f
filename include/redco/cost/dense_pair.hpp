#pragma once

#include <span>

namespace redco::cost {

/// Ways to cut the weight of a dense layer over ranks, in the comparison of layouts: not at all, by
/// outputs (column-parallel), or by inputs (row-parallel).
enum class weight_cut : unsigned char { replicated, outputs, inputs };

/// A dense layer in the comparison of layouts: how its weight is cut, and the number of its outputs
/// per token (`width`).
struct cut_weight {
  weight_cut cut = weight_cut::replicated;
  double width = 0;
};

/// A pair of consecutive dense computations in the comparison of layouts, such as q, k, v and o of
/// attention. All layers `first` read one activation that is not split. The layer `second` reads
/// their results, combined into `between` elements per token.
struct dense_pair {
  std::span<cut_weight const> first;
  double between = 0;
  cut_weight second;
};

}  // namespace redco::cost
