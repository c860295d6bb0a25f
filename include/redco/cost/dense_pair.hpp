#pragma once

#include <span>

namespace redco::cost {

/// How the weight of a dense layer is cut: not at all, by its outputs (column-parallel) or by its inputs (row-parallel).
enum class weight_cut : unsigned char { replicated, outputs, inputs };

/// A dense layer as the comparison of layouts sees it. `width`: outputs per token.
struct cut_weight {
  weight_cut cut = weight_cut::replicated;
  double width = 0;
};

/// Dense layers that read one unsharded activation (q, k, v; gate, up), what joins their results feature by feature or head by
/// head (`between` elements per token), and the dense layer that reads that (o; down).
struct dense_pair {
  std::span<cut_weight const> first;
  double between = 0;
  cut_weight second;
};

}  // namespace redco::cost
