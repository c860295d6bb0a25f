#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// The outputs [B, T, H] of a gated recurrent unit: with p = projected [B, T, 3 H] and q = weight [3 H, H] times the output
/// before plus bias [3 H], from zero, r = sigmoid(p0 + q0), z = sigmoid(p1 + q1), n = tanh(p2 + r q2), h' = (1 - z) n + z h.
/// T is at least 1. Autograd saves projected, weight, bias and the outputs. Differentiable at any order.
at::Tensor gru(at::Tensor const& projected, at::Tensor const& weight, at::Tensor const& bias);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/gru.inl.hpp>
#endif
