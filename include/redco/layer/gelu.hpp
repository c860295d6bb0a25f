#pragma once

#include <redco/layer/activation.hpp>

namespace redco {

/// GELU in the tanh approximation that GPT-2 uses (Hendrycks and Gimpel 2016): x/2 (1 +
/// tanh(sqrt(2/pi) (x + 0.044715 x^3))).
using gelu = activation<activation_kind::gelu_tanh>;

}  // namespace redco
