#pragma once

#include <redco/layer/featurewise.hpp>

namespace redco {

/// x sigmoid(x) (Elfwing et al. 2017).
struct silu : featurewise_layer {};

}  // namespace redco
