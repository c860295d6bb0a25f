#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// An activation function after a linear layer. Layer and activation can form one autograd node,
/// because the derivative of these functions is computed from their result.
enum class after_linear : unsigned char { nothing, relu, tanh };

/// A form of gelu: `tanh` is the approximation of GPT-2, `erf` the exact x Phi(x), `logistic` the
/// approximation x sigmoid(1.702 x).
enum class gelu_form { tanh, erf, logistic };

/// Returns the Gaussian error linear unit of each element. Computed in f32 for bf16. Accurate to
/// about 1e-6 |x| in f32, and to rounding in f64. Differentiable to any order. Autograd saves x.
at::Tensor gelu(at::Tensor const& x, gelu_form form = gelu_form::tanh);

/// Returns max(x, 0) of each element. A small tensor on a CPU is computed as one autograd node
/// without operator dispatch, a large one by ATen, which runs at memory speed. Both give equal
/// bits. Differentiable to any order. Autograd saves the result.
at::Tensor relu(at::Tensor const& x);

/// Returns x sigmoid(x) of each element. Computed in f32 for bf16. Differentiable to any order.
/// Autograd saves x.
at::Tensor silu(at::Tensor const& x);

/// Returns tanh of each element of `x`, to 3 units in the last place of f32. Differentiable to any
/// order. Autograd saves the result.
at::Tensor tanh(at::Tensor const& x);

/// Returns silu(gate) * up, the gated linear unit of Llama, in one pass. `both` [..., 2 n] holds
/// gate [..., n], then up [..., n]. Differentiable to any order. Autograd saves `both`. Throws
/// `error` with exit code 70 if the last dimension is odd.
at::Tensor swiglu(at::Tensor const& both);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/activations.inl.hpp>
#endif
