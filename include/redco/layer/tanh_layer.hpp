#pragma once

#include <redco/layer/activation.hpp>

namespace redco {

/// Layer with the hyperbolic tangent as activation function.
using tanh_layer = layers::activation<layers::activation_kind::tanh>;

}  // namespace redco
