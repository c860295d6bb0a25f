#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// silu(gate) * up in one pass: the gated linear unit of Llama. `both` [..., 2 n] holds gate [..., n], then up [..., n].
/// An odd last dimension is an error (exit 70). Differentiable at any order. Autograd saves `both`.
at::Tensor swiglu(at::Tensor const& both);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/swiglu.inl.hpp>
#endif
