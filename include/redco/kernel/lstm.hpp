#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Returns the outputs [B, T, H] of a long short-term memory whose first state is zero; T >= 1. The
/// gates (input, forget, cell, output) are computed from projected [B, T, 4 H] plus weight [4 H, H]
/// times the previous output.
///
/// Autograd saves projected, weight, the outputs and the cells [B, T, H]; backward recomputes the
/// gates with one product. Differentiable to any order.
at::Tensor lstm(at::Tensor const& projected, at::Tensor const& weight);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/lstm.inl.hpp>
#endif
