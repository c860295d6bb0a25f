#pragma once

#include <redco/layer/rotary_angles.hpp>

#include <cstdint>

namespace redco {

/// The options for attention scores: scale * q k^T plus biases, over the keys in the window. Traits
/// of an attention change them in `apply(config, head_dim, scores)`.
struct attention_scores {
  double scale = 1;
  /// Number of keys that a query sees, the last at its own position; 0: all that the kind of
  /// attention allows.
  std::int64_t window = 0;
  rotary_angles rotary = {};
};

}  // namespace redco
