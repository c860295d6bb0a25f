#pragma once

#include <redco/layer/featurewise.hpp>

namespace redco {

/// max(x, 0).
struct relu : featurewise_layer {};

}  // namespace redco
