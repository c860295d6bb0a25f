#pragma once

#include <redco/kernel/linear.hpp>

#include <redco/kernel/cpu/bf16_linear.hpp>
#include <redco/kernel/cpu/few_rows.hpp>
#include <redco/config.hpp>

#include <optional>

namespace redco::kernel {

REDCO_INLINE at::Tensor linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
  bool const bf16 = detail::is_bf16(x);
  bool const few = bf16 ? bf16_path_in_use() != bf16_path::onednn : x.scalar_type() == at::kFloat;
  if (few && detail::has_few_rows(x, weight)) return detail::few_rows_linear(x, weight, bias);
  if (!bf16) return at::linear(x, weight, bias);
  return detail::bf16_linear::apply(x, weight, bias.defined() ? std::optional(bias) : std::nullopt);
}

}  // namespace redco::kernel
