#pragma once

#include <redco/tensor/kernel_launcher.hpp>

namespace redco::kernel::cuda {

/// CUDA kernels of layer norm and rms norm over rows of n elements. Each block of threads computes
/// one row at a time. Weight and bias are f32, or null.
inline constexpr tensors::kernel_source norm_source{"norm", R"cuda(
// Normalises the rows of x and applies weight and bias. Writes the mean (if centered) and the
// reciprocal deviation of each row.
template <bool centered>
__device__ void norm_rows(element const* x, float const* weight, float const* bias, element* y, float* mean, float* rstd,
                          i64 rows, i64 n, float epsilon) {
  for (i64 r = blockIdx.x; r < rows; r += gridDim.x) {
    element const* const row = x + r * n;
    float center = 0, part = 0;
    if (centered) {
      for (i64 j = threadIdx.x; j < n; j += blockDim.x) part += wide(row[j]);
      center = sum_of_block(part) / static_cast<float>(n);
      part = 0;
    }
    for (i64 j = threadIdx.x; j < n; j += blockDim.x) {
      float const apart = wide(row[j]) - center;
      part += apart * apart;
    }
    float const scale = 1 / sqrtf(sum_of_block(part) / static_cast<float>(n) + epsilon);
    if (threadIdx.x == 0) {
      if (centered) mean[r] = center;
      rstd[r] = scale;
    }
    for (i64 j = threadIdx.x; j < n; j += blockDim.x) {
      float value = (wide(row[j]) - center) * scale;
      if (weight) value *= weight[j];
      if (bias) value += bias[j];
      put(y[r * n + j], value);
    }
  }
}

// Computes dx = rstd (w - mean(w) - h mean(w h)) with h = (x - mean) rstd and w = g weight. The
// terms mean and mean(w) are 0 unless centered.
template <bool centered>
__device__ void norm_gradient_rows(element const* g, element const* x, float const* weight, float const* mean,
                                   float const* rstd, element* dx, i64 rows, i64 n) {
  for (i64 r = blockIdx.x; r < rows; r += gridDim.x) {
    float const center = centered ? mean[r] : 0, scale = rstd[r];
    float plain = 0, along = 0;
    for (i64 j = threadIdx.x; j < n; j += blockDim.x) {
      float const w = wide(g[r * n + j]) * (weight ? weight[j] : 1.0f);
      plain += w;
      along += w * ((wide(x[r * n + j]) - center) * scale);
    }
    plain = centered ? sum_of_block(plain) / static_cast<float>(n) : 0;
    along = sum_of_block(along) / static_cast<float>(n);
    for (i64 j = threadIdx.x; j < n; j += blockDim.x) {
      float const w = wide(g[r * n + j]) * (weight ? weight[j] : 1.0f), h = (wide(x[r * n + j]) - center) * scale;
      put(dx[r * n + j], scale * (w - plain - h * along));
    }
  }
}

REDCO_ENTRY void layer_norm_rows(element const* x, float const* weight, float const* bias, element* y, float* mean,
                                 float* rstd, i64 rows, i64 n, float epsilon) {
  norm_rows<true>(x, weight, bias, y, mean, rstd, rows, n, epsilon);
}

REDCO_ENTRY void rms_norm_rows(element const* x, float const* weight, float const* bias, element* y, float* mean,
                               float* rstd, i64 rows, i64 n, float epsilon) {
  norm_rows<false>(x, weight, bias, y, mean, rstd, rows, n, epsilon);
}

REDCO_ENTRY void layer_norm_gradient(element const* g, element const* x, float const* weight, float const* mean,
                                     float const* rstd, element* dx, i64 rows, i64 n) {
  norm_gradient_rows<true>(g, x, weight, mean, rstd, dx, rows, n);
}

REDCO_ENTRY void rms_norm_gradient(element const* g, element const* x, float const* weight, float const* mean,
                                   float const* rstd, element* dx, i64 rows, i64 n) {
  norm_gradient_rows<false>(g, x, weight, mean, rstd, dx, rows, n);
}

// Computes partial sums for the gradients of weight and bias. Row s of weight_sums and bias_sums
// sums the gradients over the rows [s * each, (s + 1) * each), so it does not depend on the grid.
// weight_sums or bias_sums is null if its gradient is not requested; mean is null for an rms norm.
REDCO_ENTRY void norm_parameter_sums(element const* g, element const* x, float const* mean, float const* rstd,
                                     float* weight_sums, float* bias_sums, i64 rows, i64 n, i64 each) {
  for (i64 s = blockIdx.x; s * each < rows; s += gridDim.x) {
    i64 const first = s * each, last = first + each < rows ? first + each : rows;
    for (i64 j = threadIdx.x; j < n; j += blockDim.x) {
      float along = 0, plain = 0;
      for (i64 r = first; r < last; ++r) {
        float const one = wide(g[r * n + j]);
        along += one * ((wide(x[r * n + j]) - (mean ? mean[r] : 0.0f)) * rstd[r]);
        plain += one;
      }
      if (weight_sums) weight_sums[s * n + j] = along;
      if (bias_sums) bias_sums[s * n + j] = plain;
    }
  }
}
)cuda"};

}  // namespace redco::kernel::cuda
