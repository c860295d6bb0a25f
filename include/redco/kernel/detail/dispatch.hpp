#pragma once

#include <redco/kernel/cpu/computes.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel::cuda {

/// Returns true if redco's CUDA kernels (folder cuda/) compute operations on `x`. Otherwise CPU
/// kernels (cpu/) or ATen operators (composed/) do.
inline bool computes(at::Tensor const& x) {
  return (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16) && tensors::takes_cuda_kernels(x);
}

}  // namespace redco::kernel::cuda

namespace redco::kernel::detail {

/// Calls the fastest code for the device and dtype of x and returns its result. `on_cuda` launches
/// redco's CUDA kernels, `on_cpu` runs redco's CPU kernels, and `reference` runs ATen operators on
/// any device. All operations of kernel/ choose their code by this function.
template <class OnCuda, class OnCpu, class Reference>
auto dispatch(at::Tensor const& x, OnCuda const& on_cuda, OnCpu const& on_cpu, Reference const& reference) {
  if (cuda::computes(x)) return on_cuda();
  if (cpu::computes(x)) return on_cpu();
  return reference();
}

/// Calls the fastest code for an operation without CUDA kernels: `on_cpu` if redco's CPU kernels
/// support x, else `reference`, which runs ATen operators.
template <class OnCpu, class Reference>
auto dispatch(at::Tensor const& x, OnCpu const& on_cpu, Reference const& reference) {
  return cpu::computes(x) ? on_cpu() : reference();
}

}  // namespace redco::kernel::detail
