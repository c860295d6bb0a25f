#pragma once

#include <redco/tensor/torch.hpp>

#include <vector>

namespace redco::kernel {

/// Returns p - rate g for each p of `parameters` and its g of `gradients`, one list as long as the
/// other; where g is undefined, p itself. One node of autograd records the step. On a CPU the
/// results of f32 and f64 lie in one buffer. Differentiable in both at any order.
std::vector<at::Tensor> gradient_step(std::vector<at::Tensor> const& parameters,
                                      std::vector<at::Tensor> const& gradients, double rate);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/gradient_step.inl.hpp>
#endif
