#pragma once

#include <redco/tensor/torch.hpp>

#include <vector>

namespace redco::kernel {

/// Returns p - rate g for each parameter p and its gradient g, or p itself if g is undefined. Both
/// lists must have one length. Autograd records one node for all. On a CPU, f32 or f64 results
/// share one buffer. Differentiable in parameters and gradients to any order.
std::vector<at::Tensor> gradient_step(std::vector<at::Tensor> const& parameters,
                                      std::vector<at::Tensor> const& gradients, double rate);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/gradient_step.inl.hpp>
#endif
