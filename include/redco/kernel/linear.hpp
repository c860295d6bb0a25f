#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// y = x W^T + b: x [..., In], W [Out, In], b [Out] or undefined. ATen's, except for bf16 (see bf16_path), and for few
/// rows (at most 32 in f32, and in bf16 other than oneDNN's) that nobody differentiates: those are read at the speed of
/// memory. Autograd saves x and W. Differentiable at any order.
at::Tensor linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias = {});

/// relu(linear(x, W, b)) is relu_after(linear_before_relu(x, W, b)), with the same bits: where the
/// product is small and autograd records it, the two are one node in each order, which saves x and
/// W in the first call and the result in the second. Between the two calls the result is nobody
/// else's.
at::Tensor linear_before_relu(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias = {});
at::Tensor relu_after(at::Tensor const& product);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/linear.inl.hpp>
#endif
