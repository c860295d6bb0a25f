#pragma once

#include <redco/kernel/cpu/bf16_linear.hpp>
#include <redco/kernel/cpu/few_rows.hpp>
#include <redco/kernel/cpu/small_linear.hpp>
#include <redco/tensor/bf16_path.hpp>
#include <redco/tensor/torch.hpp>

#include <optional>

namespace redco::kernel::cpu {

inline at::Tensor linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
  bool const bf16 = x.scalar_type() == at::kBFloat16;
  bool const few = bf16 ? tensors::bf16_path_in_use() != tensors::bf16_path::onednn : x.scalar_type() == at::kFloat;
  if (few && has_few_rows(x, weight)) return few_rows_linear(x, weight, bias);
  if (is_small_linear(x, weight, bias)) return small_linear(x, weight, bias);
  if (!bf16) return at::linear(x, weight, bias);
  return bf16_linear::apply(x, weight, bias.defined() ? std::optional(bias) : std::nullopt);
}

}  // namespace redco::kernel::cpu
