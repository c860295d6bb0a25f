#pragma once

#include <redco/update/detail/adam_kernel.hpp>
#include <redco/update/detail/cuda_adam_source.hpp>
#include <redco/update/segment.hpp>

#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/kernel_memory.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/torch.hpp>

#include <cstddef>

namespace redco::update::detail {

inline bool cuda_adam_computes(segment const& s) {
  return s.param.scalar_type() == at::kFloat && tensors::takes_cuda_kernels(s.param);
}

inline void cuda_adam(segment& s, adam_numbers<float> const& numbers) {
  at::NoGradGuard const no_grad;
  bool const narrow = s.grad.scalar_type() == at::kBFloat16;
  bool const fused_copy = s.compute.defined() && s.compute.scalar_type() == at::kBFloat16;
  at::Tensor const grad = narrow ? s.grad : s.grad.to(at::kFloat), none;
  auto const slot = [&](std::size_t i) { return tensors::written_by_kernel(i < s.slots.size() ? s.slots[i] : none); };
  tensors::launch_kernel(cuda_adam_source, "adam_update", grad, tensors::blocks_for(s.param.numel()),
                         tensors::written_by_kernel(s.param), tensors::read_by_kernel(grad), slot(0), slot(1), slot(2),
                         tensors::written_by_kernel(fused_copy ? s.compute : none), s.param.numel(), numbers);
  if (s.compute.defined() && !fused_copy) s.compute.copy_(s.param);
}

}  // namespace redco::update::detail
