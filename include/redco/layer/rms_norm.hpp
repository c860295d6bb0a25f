#pragma once

#include <redco/layer/norm.hpp>
#include <redco/layer/real.hpp>

namespace redco {

/// A root-mean-square normalisation over the last dimension (Zhang and Sennrich 2019): x /
/// sqrt(mean(x^2) + Epsilon) * weight.
template <auto Width, auto Epsilon = layers::real{1e-6}>
struct rms_norm : layers::norm_layer<Width, 1, false> {};

}  // namespace redco
