#pragma once

#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel::cuda {

/// Returns true if redco's CUDA kernels (folder cuda/) compute operations on `x`. Otherwise CPU
/// kernels (cpu/) or ATen operators (composed/) do.
inline bool computes(at::Tensor const& x) {
  return (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16) && tensors::takes_cuda_kernels(x);
}

}  // namespace redco::kernel::cuda
