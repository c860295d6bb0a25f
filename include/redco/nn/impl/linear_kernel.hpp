#pragma once

#include <redco/nn/kernel/linear.hpp>

#include <redco/config.hpp>
#include <redco/nn/kernel/detail/bf16_linear.hpp>

#include <optional>

namespace redco::kernel {

REDCO_INLINE at::Tensor linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
  if (!detail::lacks_bf16(x)) return at::linear(x, weight, bias);
  return detail::bf16_linear::apply(x, weight, bias.defined() ? std::optional(bias) : std::nullopt);
}

}  // namespace redco::kernel
