#pragma once

#include <redco/nn/kernel/detail/bf16_linear.hpp>
#include <redco/tensor/torch.hpp>

#include <optional>

namespace redco::kernel {

/// y = x W^T + b: x [..., In], W [Out, In], b [Out] or undefined. ATen's, except for bf16 on CPUs that have no
/// instructions for it. Autograd saves x and W. Differentiable at any order.
inline at::Tensor linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias = {}) {
  if (!detail::lacks_bf16(x)) return at::linear(x, weight, bias);
  return detail::bf16_linear::apply(x, weight, bias.defined() ? std::optional(bias) : std::nullopt);
}

}  // namespace redco::kernel
