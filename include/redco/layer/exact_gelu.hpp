#pragma once

#include <redco/layer/activation.hpp>

namespace redco::layers {

/// Layer with the exact GELU function (Hendrycks and Gimpel 2016): x/2 * (1 + erf(x / sqrt(2))).
using exact_gelu = activation<activation_kind::gelu>;

}  // namespace redco::layers
