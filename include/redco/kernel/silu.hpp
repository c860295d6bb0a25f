#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// x sigmoid(x), element by element, on any shape; bf16 is computed in f32. Differentiable at any order. Autograd saves
/// x.
at::Tensor silu(at::Tensor const& x);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/silu.inl.hpp>
#endif
