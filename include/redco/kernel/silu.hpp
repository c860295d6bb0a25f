#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Returns x sigmoid(x) of each element. Computed in f32 for bf16. Differentiable to any order.
/// Autograd saves x.
at::Tensor silu(at::Tensor const& x);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/silu.inl.hpp>
#endif
