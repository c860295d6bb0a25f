#pragma once

#include <redco/layer/activation.hpp>

namespace redco {

/// max(x, 0). Its result is kept, not its input: their signs agree, and the layer behind mostly keeps it anyway.
using relu = activation<activation_kind::relu>;

}  // namespace redco
