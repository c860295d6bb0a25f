#pragma once

#include <redco/layer/featurewise.hpp>

namespace redco {

/// GELU as defined (Hendrycks and Gimpel 2016): x/2 (1 + erf(x / sqrt(2))).
struct exact_gelu : featurewise_layer {};

}  // namespace redco
