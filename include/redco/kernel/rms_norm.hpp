#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Returns x / sqrt(mean(x^2) + epsilon) * weight over the last dimension. weight [features] may be
/// undefined and may have another dtype than x. Computed in f32 for bf16. Differentiable to any
/// order.
///
/// Autograd saves x, weight, and 1 / root mean square of each row (f32, f64 for f64). Throws
/// `error` with exit code 70 if weight has another size.
at::Tensor rms_norm(at::Tensor const& x, at::Tensor const& weight, double epsilon);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/rms_norm.inl.hpp>
#endif
