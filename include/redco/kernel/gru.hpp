#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Returns the outputs [B, T, H] of a gated recurrent unit that starts from zero; T >= 1. Let p =
/// projected [B, T, 3 H], and q = weight [3 H, H] times the previous output h, plus bias [3 H].
///
/// Then r = sigmoid(p0 + q0), z = sigmoid(p1 + q1), n = tanh(p2 + r q2), and the output is (1 - z)
/// n + z h. Autograd saves projected, weight, bias and the outputs. Differentiable to any order.
at::Tensor gru(at::Tensor const& projected, at::Tensor const& weight, at::Tensor const& bias);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/gru.inl.hpp>
#endif
