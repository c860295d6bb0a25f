#pragma once

#include <redco/layer/activation.hpp>

namespace redco {

/// Layer with the function max(x, 0). Saves its result for backward instead of its input: the
/// derivative can be computed from both, and the following layer usually saves the result anyway.
using relu = layers::activation<layers::activation_kind::relu>;

}  // namespace redco
