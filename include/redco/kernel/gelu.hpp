#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Which curve: `tanh` is GPT-2's approximation, `erf` the exact x Phi(x), `logistic` the approximation x sigmoid(1.702 x).
enum class gelu_form { tanh, erf, logistic };

/// The Gaussian error linear unit, element by element, on any shape; bf16 is computed in f32. To about 1e-6 of |x| in
/// f32, to rounding in f64. Differentiable at any order. Autograd saves x.
at::Tensor gelu(at::Tensor const& x, gelu_form form = gelu_form::tanh);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/gelu.inl.hpp>
#endif
