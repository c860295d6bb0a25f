#pragma once

#include <redco/layer/rotary_angles.hpp>

#include <cstdint>

namespace redco {

/// How an attention makes scores of its queries and keys: scale * q k^T plus what is added, over the keys in the window. A
/// trait of an attention changes them in its `apply(config, head_dim, scores)`.
struct attention_scores {
  double scale = 1;
  std::int64_t window = 0;  ///< keys that a query sees, the last one its own; 0: all that the kind of attention allows
  rotary_angles rotary = {};
};

}  // namespace redco
