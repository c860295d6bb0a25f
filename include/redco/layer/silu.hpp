#pragma once

#include <redco/layer/activation.hpp>

namespace redco {

/// Layer with the SiLU function x * sigmoid(x) (Elfwing et al. 2017).
using silu = layers::activation<layers::activation_kind::silu>;

}  // namespace redco
