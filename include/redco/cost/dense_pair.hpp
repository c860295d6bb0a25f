#pragma once

#include <span>

namespace redco::cost {

/// Cut of a dense layer's weight: replicated, by outputs (column-parallel), or by inputs
/// (row-parallel).
enum class weight_cut : unsigned char { replicated, outputs, inputs };

/// A dense layer in the comparison of layouts. `width` is the number of outputs per token.
struct cut_weight {
  weight_cut cut = weight_cut::replicated;
  double width = 0;
};

/// Dense layers `first` that read one unsharded activation (q, k, v; gate, up), and the dense layer
/// `second` (o; down) that reads their joined results. The results are joined feature by feature or
/// head by head into `between` elements per token.
struct dense_pair {
  std::span<cut_weight const> first;
  double between = 0;
  cut_weight second;
};

}  // namespace redco::cost
