#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Returns the outputs [B, T, H] of a gated recurrent unit whose first state is zero; T >= 1. In
/// each step, p is that step of `projected` [B, T, 3 H]. With the previous output h, weight [3 H,
/// H] and bias [3 H], q = weight h + bias. p and q consist of three parts of H elements.
///
/// The gates are r = sigmoid(p0 + q0), z = sigmoid(p1 + q1) and n = tanh(p2 + r q2). The output is
/// (1 - z) n + z h. Autograd saves projected, weight, bias and the outputs. Differentiable to any
/// order.
at::Tensor gru(at::Tensor const& projected, at::Tensor const& weight, at::Tensor const& bias);

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
#include <redco/kernel/recurrent.inl.hpp>
#endif
