#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// The outputs [B, T, H] of a long short-term memory whose gates (input, forget, cell, output) are projected [B, T, 4 H] +
/// weight [4 H, H] times the output before, from zero. T is at least 1. Autograd saves projected, weight, the outputs and the
/// cells [B, T, H]; backward makes the gates again with one product. Differentiable at any order.
at::Tensor lstm(at::Tensor const& projected, at::Tensor const& weight);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/lstm.inl.hpp>
#endif
