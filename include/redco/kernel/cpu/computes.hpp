#pragma once

#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel::cpu {

/// Returns true if the kernels of cpu/ compute operations on `x`; otherwise the kernels of
/// composed/ do.
inline bool computes(at::Tensor const& x) {
  return takes_cpu_kernels(x) &&
         (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kDouble);
}

}  // namespace redco::kernel::cpu
