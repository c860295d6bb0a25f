#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// (x - mean) / sqrt(variance + epsilon) * weight + bias over the last dimension; weight and bias [features] may be
/// undefined, and may be in another dtype than x. bf16 is computed in f32. Parameters of another size are an error
/// (exit 70). Differentiable at any order. Autograd saves x, weight, and mean and 1 / deviation (one f32 per row, f64
/// for f64).
at::Tensor layer_norm(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias, double epsilon);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/layer_norm.inl.hpp>
#endif
