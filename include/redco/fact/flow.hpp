#pragma once

#include <redco/shape/extents.hpp>

#include <cstdint>

namespace redco::fact {

/// A tensor of a model's program, such as the activation that flows from layer to layer: its shape,
/// its cut over ranks and its identity.
struct flow {
  extents shape = {};  ///< Shape of the complete tensor over all ranks
  int split_dim = -1;  ///< Dimension that is cut over the tensor-parallel ranks; -1: replicated
  /// Number of indivisible units along split_dim, such as heads or columns. Each rank holds at most
  /// ceil(units / ranks).
  std::int64_t units = 0;
  /// Number of the activation, so that its storage is counted once. 0: the model's input; -1: a
  /// tensor that is no activation.
  int id = 0;
  /// Index that identifies the layer which gave the tensor its number of features, for error
  /// messages; 0: the model's input.
  int made = 0;
};

}  // namespace redco::fact
