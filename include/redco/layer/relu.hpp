#pragma once

#include <redco/layer/kept_output.hpp>

namespace redco {

/// max(x, 0). Its result is kept, not its input: their signs agree, and the layer behind mostly keeps it anyway.
struct relu : kept_output_layer {};

}  // namespace redco
