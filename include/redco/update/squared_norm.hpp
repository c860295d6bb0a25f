#pragma once

#include <redco/update/norm_range.hpp>

#include <redco/tensor/torch.hpp>

#include <span>

namespace redco::update {

/// Returns the weighted sum of squares of a flat gradient over `ranges`, computed in f64. The
/// gradient may have any floating dtype. The order of summation depends only on the ranges. All
/// ranges must be within the tensor.
double squared_norm(at::Tensor const& flat, std::span<norm_range const> ranges);

}  // namespace redco::update

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/update/squared_norm.inl.hpp>
#endif
