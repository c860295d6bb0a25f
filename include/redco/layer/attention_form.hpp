#pragma once

#include <redco/layer/projection_biases.hpp>

#include <cstdint>

namespace redco {

/// The sizes of an attention layer, except its width and heads. The layer's traits set them in
/// `apply(config, form)`.
struct attention_form {
  std::int64_t key_value_heads = 0;
  std::int64_t head_dim = 0;  ///< Features of a head; 0: width / heads
  projection_biases biases = true;
  double dropout = 0;  ///< Probability of dropout on the attention probabilities
  /// Standard deviation of q's initial weights; 0: the default of all weights.
  double query_deviation = 0;
  /// Standard deviation of o's initial weights; 0: the default of all weights.
  double output_deviation = 0;
  bool query_key_norm = false;  ///< True to normalise queries and keys in each head
  double norm_epsilon = 0;
};

}  // namespace redco
