#pragma once

#include <redco/tensor/kernel_launcher.hpp>

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

}  // namespace redco::update::detail
