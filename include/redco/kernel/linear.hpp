#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// y = x W^T + b: x [..., In], W [Out, In], b [Out] or undefined. ATen's, except for bf16 (see bf16_path), and for few
/// rows (at most 32 in f32, and in bf16 other than oneDNN's) that nobody differentiates: those are read at the speed of
/// memory. Autograd saves x and W. Differentiable at any order.
at::Tensor linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias = {});

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/linear.inl.hpp>
#endif
