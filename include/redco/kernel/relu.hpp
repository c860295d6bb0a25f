#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Returns max(x, 0) of each element. A small tensor on a CPU is computed as one autograd node
/// without operator dispatch, a large one by ATen, which runs at memory speed. Both give equal
/// bits. Differentiable to any order. Autograd saves the result.
at::Tensor relu(at::Tensor const& x);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/relu.inl.hpp>
#endif
