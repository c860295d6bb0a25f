#pragma once

#include <redco/layer/projection_biases.hpp>

#include <cstdint>

namespace redco::layers {

/// The sizes and options of an attention layer other than its width and heads. Each trait (option)
/// of the layer sets some of them in its function `apply(config, form)`.
struct attention_form {
  std::int64_t key_value_heads = 0;
  std::int64_t head_dim = 0;  ///< Number of features per head; 0: width / heads
  projection_biases biases = true;
  double dropout = 0;  ///< Dropout probability of attention probabilities
  /// Standard deviation of the initial weights of the query projection; 0: the model's default.
  double query_deviation = 0;
  /// Standard deviation of the initial weights of the output projection; 0: the model's default.
  double output_deviation = 0;
  /// True to normalise queries and keys within each head by their root mean square
  bool query_key_norm = false;
  double norm_epsilon = 0;
};

}  // namespace redco::layers
