#pragma once

#include <redco/update/detail/adam_kernel.hpp>
#include <redco/update/segment.hpp>
#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace redco::update::detail {

/// CUDA kernel of the Adam update. It performs the operations of adam_kernel.hpp in the same order.
/// `element` in the text is the gradient's type.
inline constexpr tensors::kernel_source cuda_adam_source{"adam", R"cuda(
struct adam_numbers {
  float scale, penalty, keep, mean_part, beta2, square_part, root_factor, eps, minus_rate;
};

// Updates `n` parameters and their moments. `top`, the maximum of the second moments so far, and
// `copy`, the parameters in bf16, may be null.
REDCO_ENTRY void adam_update(float* param, element const* grad, float* mean, float* square, float* top, bf16* copy, i64 n,
                             adam_numbers c) {
  for (i64 i = first_of_grid(); i < n; i += size_of_grid()) {
    float const p = param[i], g = fmaf(c.penalty, p, wide(grad[i]) * c.scale);
    float const m = fmaf(c.mean_part, g - mean[i], mean[i]);
    float const v = fmaf(c.square_part * g, g, c.beta2 * square[i]);
    mean[i] = m;
    square[i] = v;
    float largest = v;
    if (top) top[i] = largest = v > top[i] ? v : top[i];
    float const root = fmaf(sqrtf(largest), c.root_factor, c.eps);
    float const next = fmaf(c.minus_rate, m / root, p * c.keep);
    param[i] = next;
    if (copy) put(copy[i], next);
  }
}
)cuda"};

/// CUDA kernel that sums squares of elements in f64. It writes one partial sum per thread.
inline constexpr tensors::kernel_source cuda_squares_source{"squares", R"cuda(
// Writes one partial sum per thread of the grid; `sums` has that many elements.
REDCO_ENTRY void sums_of_squares(element const* x, double* sums, i64 n) {
  double sum = 0;
  for (i64 i = first_of_grid(); i < n; i += size_of_grid()) {
    double const each = wide(x[i]);
    sum += each * each;
  }
  sums[first_of_grid()] = sum;
}
)cuda"};

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
