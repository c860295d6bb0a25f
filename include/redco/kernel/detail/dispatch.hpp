#pragma once

#include <redco/kernel/cpu/computes.hpp>
#include <redco/kernel/cuda/computes.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel::detail {

/// Calls the fastest code for x's device and dtype, and returns what the code returns: `on_cuda`
/// launches kernels of cuda/, `on_cpu` runs those of cpu/, `reference` runs operators of ATen on
/// any device. All operations of this room choose here.
template <class OnCuda, class OnCpu, class Reference>
auto dispatch(at::Tensor const& x, OnCuda const& on_cuda, OnCpu const& on_cpu, Reference const& reference) {
  if (cuda::computes(x)) return on_cuda();
  if (cpu::computes(x)) return on_cpu();
  return reference();
}

/// Dispatches an operation without kernels of its own for CUDA devices: the reference computes
/// there.
template <class OnCpu, class Reference>
auto dispatch(at::Tensor const& x, OnCpu const& on_cpu, Reference const& reference) {
  return cpu::computes(x) ? on_cpu() : reference();
}

}  // namespace redco::kernel::detail
