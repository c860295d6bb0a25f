#pragma once

#include <redco/layer/activation.hpp>

namespace redco {

/// The hyperbolic tangent.
using tanh_layer = activation<activation_kind::tanh>;

}  // namespace redco
