#pragma once

#include <redco/layer/featurewise.hpp>

namespace redco {

/// GELU in its tanh approximation (Hendrycks and Gimpel 2016), as GPT-2 uses it: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
struct gelu : featurewise_layer {};

}  // namespace redco
