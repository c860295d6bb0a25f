#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Returns silu(gate) * up, the gated linear unit of Llama, in one pass. `both` [..., 2 n] holds
/// gate [..., n], then up [..., n]. Differentiable to any order. Autograd saves `both`. Throws
/// `error` with exit code 70 if the last dimension is odd.
at::Tensor swiglu(at::Tensor const& both);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/swiglu.inl.hpp>
#endif
