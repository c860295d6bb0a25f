#pragma once

#include <redco/update/detail/adam_kernel.hpp>
#include <redco/update/detail/cuda_adam_source.hpp>
#include <redco/update/detail/cuda_squares_source.hpp>
#include <redco/update/segment.hpp>
#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

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

inline bool cuda_squares_computes(at::Tensor const& flat) {
  return (flat.scalar_type() == at::kFloat || flat.scalar_type() == at::kBFloat16) && tensors::takes_cuda_kernels(flat);
}

/// Returns the sum of squares of `flat` as an f64 scalar tensor on the CUDA device, computed in one
/// pass. The order of summation is the same in every call.
inline at::Tensor cuda_sum_of_squares(at::Tensor const& flat) {
  constexpr std::int64_t most_blocks = 1024;
  std::int64_t const blocks = std::min(most_blocks, tensors::blocks_for(flat.numel()));
  at::Tensor const sums = at::zeros({blocks * tensors::kernel_threads}, flat.options().dtype(at::kDouble));
  tensors::launch_kernel(cuda_squares_source, "sums_of_squares", flat, blocks, tensors::read_by_kernel(flat),
                         tensors::written_by_kernel(sums), flat.numel());
  return sums.sum();
}

}  // namespace redco::update::detail
