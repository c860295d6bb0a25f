#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Returns (x - mean) / sqrt(variance + epsilon) * weight + bias over the last dimension. weight
/// and bias [features] may be undefined and may have another dtype than x. Computed in f32 for
/// bf16. Differentiable to any order.
///
/// Autograd saves x, weight, and the mean and 1 / deviation of each row (f32, f64 for f64). Throws
/// `error` with exit code 70 if weight or bias has another size.
at::Tensor layer_norm(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias, double epsilon);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/layer_norm.inl.hpp>
#endif
