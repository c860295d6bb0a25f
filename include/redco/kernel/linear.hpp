#pragma once

#include <redco/kernel/after_linear.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// y = x W^T + b: x [..., In], W [Out, In], b [Out] or undefined. ATen's, except for bf16 (see bf16_path), and for few
/// rows (at most 32 in f32, and in bf16 other than oneDNN's) that nobody differentiates: those are read at the speed of
/// memory. Autograd saves x and W. Differentiable at any order.
at::Tensor linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias = {});

/// f(linear(x, W, b)), f being relu or tanh, is activated(linear_before(f, x, W, b), f), with the
/// same bits: where the product is small and autograd records it, the two are one node in each
/// order, which saves x and W in the first call and the result in the second. Between the two calls
/// the product is nobody else's: if nobody records it, `activated` writes into it.
at::Tensor linear_before(after_linear next, at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias = {});
at::Tensor activated(at::Tensor const& product, after_linear next);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/linear.inl.hpp>
#endif
