#pragma once

namespace redco::layers {

/// Activation functions, applied to each feature independently.
enum class activation_kind : unsigned char {
  gelu,  ///< x/2 * (1 + erf(x / sqrt(2))) (Hendrycks and Gimpel 2016)
  /// x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))), the approximation of GELU that GPT-2 uses.
  gelu_tanh,
  quick_gelu,  ///< x * sigmoid(1.702 x)
  relu,        ///< max(x, 0)
  silu,        ///< x * sigmoid(x) (Elfwing et al. 2017)
  tanh,
};

/// Returns true if the derivative of the activation function is computed from the function's
/// output. Then the layer saves its output for backward, which the following layer usually saves
/// anyway.
constexpr bool keeps_output(activation_kind kind) {
  return kind == activation_kind::relu || kind == activation_kind::tanh;
}

}  // namespace redco::layers
