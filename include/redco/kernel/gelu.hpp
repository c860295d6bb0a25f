#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// A form of gelu: `tanh` is the approximation of GPT-2, `erf` the exact x Phi(x), `logistic` the
/// approximation x sigmoid(1.702 x).
enum class gelu_form { tanh, erf, logistic };

/// Returns the Gaussian error linear unit of each element. Computed in f32 for bf16. Accurate to
/// about 1e-6 |x| in f32, and to rounding in f64. Differentiable to any order. Autograd saves x.
at::Tensor gelu(at::Tensor const& x, gelu_form form = gelu_form::tanh);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/gelu.inl.hpp>
#endif
