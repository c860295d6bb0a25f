#pragma once

#include <span>

namespace redco::cost {

/// A way to cut the weight of a dense layer over the tensor-parallel ranks: not at all, by outputs
/// (column-parallel), or by inputs (row-parallel). Used by moves_of(), which computes the
/// communication that such cuts cause.
enum class weight_cut : unsigned char { replicated, outputs, inputs };

/// A dense layer in the computation of moves_of(): the cut of its weight, and its number of outputs
/// per token (`width`).
struct cut_weight {
  weight_cut cut = weight_cut::replicated;
  double width = 0;
};

/// Two consecutive dense computations in moves_of(), such as first q, k and v and then o of
/// attention. All layers in `first` read one unsplit activation. The layer `second` reads their
/// combined results, which have `between` elements per token.
struct dense_pair {
  std::span<cut_weight const> first;
  double between = 0;
  cut_weight second;
};

}  // namespace redco::cost
