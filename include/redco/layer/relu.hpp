#pragma once

#include <redco/layer/activation.hpp>

namespace redco {

/// ReLU, max(x, 0). Saves its result for backward, not its input: both have the same sign, and the
/// following layer usually saves the result anyway.
using relu = activation<activation_kind::relu>;

}  // namespace redco
