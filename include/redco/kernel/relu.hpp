#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// max(x, 0), element by element. Few elements are one node of autograd without operators; of many,
/// ATen's operator and its backward already run at the speed of memory. Both give the same bits.
/// Differentiable at any order. Autograd saves the result.
at::Tensor relu(at::Tensor const& x);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/relu.inl.hpp>
#endif
