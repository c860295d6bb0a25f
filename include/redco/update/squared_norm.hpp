#pragma once

#include <redco/update/norm_range.hpp>

#include <redco/tensor/torch.hpp>

#include <span>

namespace redco::update {

/// The weighted sum of squares of a flat gradient of any floating dtype over `ranges`, in f64, in an order that
/// depends on the ranges only. Requires the ranges to lie in the buffer.
double squared_norm(at::Tensor const& flat, std::span<norm_range const> ranges);

}  // namespace redco::update

#ifndef REDCO_COMPILED
#include <redco/update/squared_norm.inl.hpp>
#endif
