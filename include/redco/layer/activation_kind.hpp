#pragma once

namespace redco {

/// Functions that act on each feature by itself.
enum class activation_kind : unsigned char {
  gelu,        ///< x/2 (1 + erf(x / sqrt(2))) (Hendrycks and Gimpel 2016)
  gelu_tanh,   ///< its approximation x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), as GPT-2 uses it
  quick_gelu,  ///< x sigmoid(1.702 x)
  relu,        ///< max(x, 0)
  silu,        ///< x sigmoid(x) (Elfwing et al. 2017)
  tanh,
};

/// Whether the derivative is made from the function's result, which the layer behind mostly saves anyway.
constexpr bool keeps_output(activation_kind kind) {
  return kind == activation_kind::relu || kind == activation_kind::tanh;
}

}  // namespace redco
