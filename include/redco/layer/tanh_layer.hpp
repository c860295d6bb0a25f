#pragma once

#include <redco/layer/activation.hpp>

namespace redco {

/// The hyperbolic tangent as an activation layer.
using tanh_layer = activation<activation_kind::tanh>;

}  // namespace redco
