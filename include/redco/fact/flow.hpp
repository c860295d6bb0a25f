#pragma once

#include <redco/shape/extents.hpp>

#include <cstdint>

namespace redco::fact {

/// A tensor as layers state it, such as the activation that flows from one to the next.
struct flow {
  extents shape = {};      ///< logical
  int split_dim = -1;      ///< the dimension that the mesh cuts, -1: replicated
  std::int64_t units = 0;  ///< indivisible units along split_dim: heads or columns; a rank holds ceil(units / shards)
  int id = 0;  ///< which activation it is, so that its storage is counted once; 0: the model's input; -1: no activation
  int made = 0;  ///< which of the recorded widths it has, so that a mistake can name its maker; 0: the input's
};

}  // namespace redco::fact
