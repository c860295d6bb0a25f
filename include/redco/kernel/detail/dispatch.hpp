#pragma once

#include <redco/kernel/cpu/computes.hpp>
#include <redco/kernel/cuda/computes.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel::detail {

/// Calls the fastest code for the device and dtype of x and returns its result. `on_cuda` launches
/// kernels of cuda/, `on_cpu` runs kernels of cpu/, and `reference` runs ATen operators on any
/// device. All operations of this room choose their code here.
template <class OnCuda, class OnCpu, class Reference>
auto dispatch(at::Tensor const& x, OnCuda const& on_cuda, OnCpu const& on_cpu, Reference const& reference) {
  if (cuda::computes(x)) return on_cuda();
  if (cpu::computes(x)) return on_cpu();
  return reference();
}

/// Calls the fastest code for an operation without CUDA kernels: `on_cpu` for tensors that cpu/
/// supports, else `reference`.
template <class OnCpu, class Reference>
auto dispatch(at::Tensor const& x, OnCpu const& on_cpu, Reference const& reference) {
  return cpu::computes(x) ? on_cpu() : reference();
}

}  // namespace redco::kernel::detail
