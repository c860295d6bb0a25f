#pragma once

#include <redco/update/detail/cuda_squares_source.hpp>

#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/kernel_memory.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>

namespace redco::update::detail {

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
