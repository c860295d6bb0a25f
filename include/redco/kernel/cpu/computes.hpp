#pragma once

#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel::cpu {

/// Returns true if redco's CPU kernels (folder cpu/) compute operations on `x`. Otherwise ATen
/// operators (folder composed/) do.
inline bool computes(at::Tensor const& x) {
  return tensors::takes_cpu_kernels(x) &&
         (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kDouble);
}

}  // namespace redco::kernel::cpu
