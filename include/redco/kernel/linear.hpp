#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Returns y = x W^T + b, for x [..., In], W [Out, In] and b [Out] or undefined. Uses ATen, with
/// three exceptions on CPUs: bf16 (see bf16_path), small products, and at most 32 rows without
/// gradients. The last case is for f32, and for bf16 unless oneDNN multiplies it; it runs at memory
/// speed. Autograd saves x and W. Differentiable to any order.
at::Tensor linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias = {});

/// Returns linear(x, W, b) for an immediate call of relu_after on the result:
/// relu_after(linear_before_relu(x, W, b)) equals relu(linear(x, W, b)) bit by bit. If autograd
/// records a small product, the product and the relu become one node, which saves x, W and the
/// relu's result. No other code may use the intermediate result.
at::Tensor linear_before_relu(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias = {});
at::Tensor relu_after(at::Tensor const& product);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/linear.inl.hpp>
#endif
