#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// x / sqrt(mean of x^2 + epsilon) * weight over the last dimension; weight [features] may be undefined, and may be in
/// another dtype than x. bf16 is computed in f32. A weight of another size is an error (exit 70). Differentiable at any
/// order. Autograd saves x, weight, and 1 / root mean square (one f32 per row, f64 for f64).
at::Tensor rms_norm(at::Tensor const& x, at::Tensor const& weight, double epsilon);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/rms_norm.inl.hpp>
#endif
