#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// tanh(x), element by element, to 3 units in the last place of f32. Differentiable at any order.
/// Autograd saves the result.
at::Tensor tanh(at::Tensor const& x);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/tanh.inl.hpp>
#endif
