#pragma once

#include <redco/layer/activation.hpp>

namespace redco {

/// max(x, 0). Its result is saved for backward, not its input: their signs agree, and the layer behind mostly saves it anyway.
using relu = activation<activation_kind::relu>;

}  // namespace redco
