#pragma once

#include <redco/layer/rotary_angles.hpp>

#include <cstdint>

namespace redco::layers {

/// The options for attention scores, which are scale * q k^T plus biases. Each trait (option) of an
/// attention layer changes some of them in its function `apply(config, head_dim, scores)`.
struct attention_scores {
  double scale = 1;
  /// Number of keys that a query attends to, the last at its own position; 0: all keys that the
  /// kind of attention allows.
  std::int64_t window = 0;
  rotary_angles rotary = {};
};

}  // namespace redco::layers
