#pragma once

#include <redco/layer/projection_biases.hpp>

#include <cstdint>

namespace redco {

/// The sizes of an attention beside its width and heads, as its traits say them in `apply(config, form)`.
struct attention_form {
  std::int64_t key_value_heads = 0;
  std::int64_t head_dim = 0;  ///< features of a head; 0: width / heads
  projection_biases biases = true;
  double dropout = 0;           ///< on the attention probabilities
  double query_deviation = 0;   ///< of q's starting weights; 0: that of the others
  double output_deviation = 0;  ///< of o's starting weights; 0: that of the others
  bool query_key_norm = false;  ///< queries and keys are normed in each head
  double norm_epsilon = 0;
};

}  // namespace redco
