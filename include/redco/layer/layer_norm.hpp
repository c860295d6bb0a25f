#pragma once

#include <redco/layer/norm.hpp>
#include <redco/layer/real.hpp>

namespace redco {

/// A layer normalisation over the last dimension (Ba et al. 2016): (x - mean) / sqrt(variance +
/// Epsilon) * weight + bias.
template <auto Width, auto Epsilon = layers::real{1e-5}>
struct layer_norm : layers::norm_layer<Width, 2, true> {};

}  // namespace redco
