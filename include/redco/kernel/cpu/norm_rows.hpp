#pragma once

#include <redco/kernel/cpu/lanes.hpp>
#include <redco/tensor/torch.hpp>

#include <cmath>
#include <cstdint>

namespace redco::kernel::cpu {

// Rows of layer norm (Centered) or rms norm (not Centered), computed in f32. The scalar loops
// compute the last elements of a row whose length is no multiple of W.

/// The forward of a norm over `rows` rows of `n` elements: y = (x - mean) rstd weight + bias, where
/// rstd is 1 / deviation. A null `weight` means 1; a null `bias` means 0.
template <bool Centered, class T>
struct norm_forward_rows {
  T const* x;
  float const* weight;
  float const* bias;
  T* y;
  float* mean;
  float* rstd;
  std::int64_t rows, n;
  double epsilon;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    using real = typename lanes<W>::real;
    for (std::int64_t r = 0; r < rows; ++r) {
      T const* const row = x + r * n;
      T* const out = y + r * n;
      real v, w, b, total = {};
      std::int64_t j = 0;
      float center = 0;
      if constexpr (Centered) {
        for (; j + W <= n; j += W) {
          load_lanes<W>(v, row + j);
          total += v;
        }
        center = sum_of_lanes<W>(total);
        for (; j < n; ++j) center += static_cast<float>(row[j]);
        center /= static_cast<float>(n);
        mean[r] = center;
        total = real{};
      }
      for (j = 0; j + W <= n; j += W) {
        load_lanes<W>(v, row + j);
        if constexpr (Centered) v -= center;
        total += v * v;
      }
      float square = sum_of_lanes<W>(total);
      for (; j < n; ++j) square += (static_cast<float>(row[j]) - center) * (static_cast<float>(row[j]) - center);
      float const scale = 1 / std::sqrt(square / static_cast<float>(n) + static_cast<float>(epsilon));
      rstd[r] = scale;
      for (j = 0; j + W <= n; j += W) {
        load_lanes<W>(v, row + j);
        if constexpr (Centered) v -= center;
        v *= scale;
        if (weight) {
          load_lanes<W>(w, weight + j);
          v *= w;
        }
        if (bias) {
          load_lanes<W>(b, bias + j);
          v += b;
        }
        store_lanes<W>(out + j, v);
      }
      for (; j < n; ++j)
        out[j] = static_cast<T>((static_cast<float>(row[j]) - center) * scale * (weight ? weight[j] : 1.0f) +
                                (bias ? bias[j] : 0.0f));
    }
  }
};

/// The backward of a norm over `rows` rows. Writes dx, and adds the gradients of weight and bias to
/// sums, which are null if not requested. With h = (x - mean) rstd and w = g weight: dx = rstd (w -
/// mean(w) - h mean(w h)). For rms norm, the term mean(w) is 0.
template <bool Centered, class T>
struct norm_backward_rows {
  T const* g;
  T const* x;
  float const* weight;
  float const* mean;
  float const* rstd;
  T* dx;
  float* weight_sum;
  float* bias_sum;
  std::int64_t rows, n;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    using real = typename lanes<W>::real;
    for (std::int64_t r = 0; r < rows; ++r) {
      T const* const grad = g + r * n;
      T const* const row = x + r * n;
      float const center = Centered ? mean[r] : 0.0f, scale = rstd[r];
      real up, h, w, sum, plain = {}, along = {};
      std::int64_t j = 0;
      for (; j + W <= n; j += W) {
        load_lanes<W>(up, grad + j);
        load_lanes<W>(h, row + j);
        if constexpr (Centered) h -= center;
        h *= scale;
        if (weight_sum) {
          load_lanes<W>(sum, weight_sum + j);
          sum += up * h;
          store_lanes<W>(weight_sum + j, sum);
        }
        if (bias_sum) {
          load_lanes<W>(sum, bias_sum + j);
          sum += up;
          store_lanes<W>(bias_sum + j, sum);
        }
        if (weight) {
          load_lanes<W>(w, weight + j);
          up *= w;
        }
        if constexpr (Centered) plain += up;
        along += up * h;
      }
      float plain_mean = sum_of_lanes<W>(plain), along_mean = sum_of_lanes<W>(along);
      for (; j < n; ++j) {
        float const one = static_cast<float>(grad[j]), hat = (static_cast<float>(row[j]) - center) * scale;
        if (weight_sum) weight_sum[j] += one * hat;
        if (bias_sum) bias_sum[j] += one;
        float const weighted = weight ? one * weight[j] : one;
        if constexpr (Centered) plain_mean += weighted;
        along_mean += weighted * hat;
      }
      plain_mean /= static_cast<float>(n), along_mean /= static_cast<float>(n);
      for (j = 0; j + W <= n; j += W) {
        load_lanes<W>(up, grad + j);
        load_lanes<W>(h, row + j);
        if constexpr (Centered) h -= center;
        h *= scale;
        if (weight) {
          load_lanes<W>(w, weight + j);
          up *= w;
        }
        up = scale * (up - plain_mean - h * along_mean);
        store_lanes<W>(dx + r * n + j, up);
      }
      for (; j < n; ++j) {
        float const hat = (static_cast<float>(row[j]) - center) * scale;
        float const weighted = static_cast<float>(grad[j]) * (weight ? weight[j] : 1.0f);
        dx[r * n + j] = static_cast<T>(scale * (weighted - plain_mean - hat * along_mean));
      }
    }
  }
};

}  // namespace redco::kernel::cpu
