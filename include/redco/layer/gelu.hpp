#pragma once

#include <redco/layer/activation.hpp>

namespace redco {

/// Layer with the tanh approximation of GELU that GPT-2 uses (Hendrycks and Gimpel 2016): x/2 * (1
/// + tanh(sqrt(2/pi) * (x + 0.044715 x^3))).
using gelu = layers::activation<layers::activation_kind::gelu_tanh>;

}  // namespace redco
