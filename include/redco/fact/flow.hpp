#pragma once

#include <redco/shape/extents.hpp>

#include <cstdint>

namespace redco::fact {

/// A tensor in a layer's facts, such as the activation that flows from layer to layer.
struct flow {
  extents shape = {};  ///< Logical shape, unsharded
  int split_dim = -1;  ///< Dimension that the mesh cuts; -1: replicated
  /// Number of indivisible units along split_dim, such as heads or columns. A rank holds at most
  /// ceil(units / shards).
  std::int64_t units = 0;
  /// Identity of the activation, so that its storage is counted once; 0: the model's input; -1: no
  /// activation.
  int id = 0;
  /// Index of the recorded width of the tensor, so that a mistake can name the layer that made it;
  /// 0: the input's width.
  int made = 0;
};

}  // namespace redco::fact
