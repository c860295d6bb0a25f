#pragma once

#include <redco/kernel/activations.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Returns y = x W^T + b, for x [..., In], W [Out, In] and b [Out] or undefined. Uses ATen, with
/// exceptions on CPUs: bf16 (see bf16_path), small and medium products (see is_panel_linear), large
/// products in f32 (see f32_path), and at most 32 rows without gradients. The last case is for f32,
/// and for bf16 unless oneDNN multiplies it; it runs at memory speed. Autograd saves x and W.
/// Differentiable to any order.
at::Tensor linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias = {});

/// Returns linear(x, W, b) for a following call of `activated`, which applies the activation `next`
/// (relu or tanh). With f = `next`, activated(linear_before(f, x, W, b), f) equals
/// f(linear(x, W, b)) bit by bit. A small recorded product and its activation become one autograd
/// node, which saves x, W and the result. No other code may use the intermediate result, because
/// `activated` overwrites it if autograd does not record it.
at::Tensor linear_before(after_linear next, at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias = {});
/// Returns the activation `next` of a product that linear_before returned.
at::Tensor activated(at::Tensor const& product, after_linear next);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/linear.inl.hpp>
#endif
