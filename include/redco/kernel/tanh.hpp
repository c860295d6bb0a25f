#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Returns tanh of each element of `x`, to 3 units in the last place of f32. Differentiable to any
/// order. Autograd saves the result.
at::Tensor tanh(at::Tensor const& x);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/tanh.inl.hpp>
#endif
