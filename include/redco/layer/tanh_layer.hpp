#pragma once

#include <redco/layer/kept_output.hpp>

namespace redco {

/// The hyperbolic tangent.
struct tanh_layer : kept_output_layer {};

}  // namespace redco
