#pragma once

#include <redco/kernel/cpu/lanes.hpp>
#include <redco/tensor/torch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace redco::kernel::cpu {

/// Unit of padding for blocks of attention scores: the number of columns in memory is a multiple of
/// it, so that vector loops have no remainder.
inline constexpr std::int64_t score_lanes = 16;

constexpr std::int64_t padded_columns(std::int64_t n) { return (n + score_lanes - 1) / score_lanes * score_lanes; }

/// Replaces the scores z[0, n) by cap * tanh(z / cap). Writes the derivatives 1 - tanh(z / cap)^2
/// to `slopes`, unless it is null. z and slopes must hold padded_columns(n) elements.
template <int W>
[[gnu::always_inline]] inline void soft_cap_lanes(float* z, std::int64_t n, float cap, float* slopes) {
  typename lanes<W>::real x;
  for (std::int64_t j = 0; j < n; j += W) {
    load_lanes<W>(x, z + j);
    x /= cap;
    tanh_lanes<W>(x);
    store_lanes<W>(z + j, x * cap);
    if (slopes != nullptr) store_lanes<W>(slopes + j, 1.0f - x * x);
  }
}

/// Multiplies ds[0, n) by `slopes`. Leaves the padding of `ds` as it is, because slopes of padding
/// may be NaN.
template <int W, class T>
[[gnu::always_inline]] inline void multiply_lanes(T* ds, std::int64_t n, float const* slopes) {
  typename lanes<W>::real x, slope;
  std::int64_t j = 0;
  for (; j + W <= n; j += W) {
    load_lanes<W>(x, ds + j);
    load_lanes<W>(slope, slopes + j);
    store_lanes<W>(ds + j, x * slope);
  }
  for (; j < n; ++j) ds[j] = static_cast<T>(static_cast<float>(ds[j]) * slopes[j]);
}

/// Replaces z[0, n) by exp(z - max z). Writes these values times `keep` (dropout factors, may be
/// null) to `p`, and zeros from n to `width`. Returns the sum of the values before dropout; `top`
/// receives max z. z, p and keep must hold padded_columns(n) elements.
template <int W, class T>
[[gnu::always_inline]] inline float softmax_lanes(float* z, std::int64_t n, std::int64_t width, float const* keep, T* p,
                                                  float& top) {
  using real = typename lanes<W>::real;
  auto const end = padded_columns(n);
  for (auto j = n; j < end; ++j) z[j] = -std::numeric_limits<float>::infinity();
  real most, x, total = {};
  load_lanes<W>(most, z);
  for (std::int64_t j = W; j < end; j += W) {
    load_lanes<W>(x, z + j);
    most = most > x ? most : x;
  }
  top = most[0];
  for (int i = 1; i < W; ++i) top = top > most[i] ? top : most[i];
  for (std::int64_t j = 0; j < end; j += W) {
    load_lanes<W>(x, z + j);
    x -= top;
    exp_lanes<W>(x);
    total += x;
    if (keep != nullptr) {
      real k;
      load_lanes<W>(k, keep + j);
      x *= k;
    }
    store_lanes<W>(p + j, x);
  }
  for (auto j = end; j < width; ++j) p[j] = T(0);
  return sum_of_lanes<W>(total);
}

/// Computes the backward of softmax from the scores z, their log-sum-exp lse, the dropout factors
/// keep, and the gradient dp of the probabilities after dropout. Writes p = exp(z - lse) keep and
/// ds = exp(z - lse) (dp keep - delta), and zeros from n to `width`. p may alias z; ds may alias
/// dp.
template <int W, class T>
[[gnu::always_inline]] inline void softmax_backward_lanes(float* z, float const* dp, std::int64_t n, std::int64_t width,
                                                          float const* keep, float lse, float delta, T* p, T* ds) {
  using real = typename lanes<W>::real;
  auto const end = padded_columns(n);
  for (auto j = n; j < end; ++j) z[j] = -std::numeric_limits<float>::infinity();
  real x, g, k;
  for (std::int64_t j = 0; j < end; j += W) {
    load_lanes<W>(x, z + j);
    load_lanes<W>(g, dp + j);
    x -= lse;
    exp_lanes<W>(x);
    if (keep != nullptr) {
      load_lanes<W>(k, keep + j);
      store_lanes<W>(p + j, x * k);
      store_lanes<W>(ds + j, x * (g * k - delta));
    } else {
      store_lanes<W>(p + j, x);
      store_lanes<W>(ds + j, x * (g - delta));
    }
  }
  // The padding of dp may hold NaN, and 0 times NaN is not 0.
  for (auto j = n; j < end; ++j) ds[j] = T(0);
  for (auto j = end; j < width; ++j) p[j] = ds[j] = T(0);
}

// The f64 versions of the functions above: one element at a time, with std::exp.

template <int>
void soft_cap_lanes(double* z, std::int64_t n, double cap, double* slopes) {
  for (std::int64_t j = 0; j < n; ++j) {
    double const t = std::tanh(z[j] / cap);
    z[j] = t * cap;
    if (slopes != nullptr) slopes[j] = 1 - t * t;
  }
}

template <int>
void multiply_lanes(double* ds, std::int64_t n, double const* slopes) {
  for (std::int64_t j = 0; j < n; ++j) ds[j] *= slopes[j];
}

template <int, class T>
double softmax_lanes(double* z, std::int64_t n, std::int64_t width, double const* keep, T* p, double& top) {
  top = -std::numeric_limits<double>::infinity();
  for (std::int64_t j = 0; j < n; ++j) top = top > z[j] ? top : z[j];
  double total = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    double const x = std::exp(z[j] - top);
    total += x;
    p[j] = keep != nullptr ? x * keep[j] : x;
  }
  for (auto j = n; j < width; ++j) p[j] = 0;
  return total;
}

template <int, class T>
void softmax_backward_lanes(double* z, double const* dp, std::int64_t n, std::int64_t width, double const* keep,
                            double lse, double delta, T* p, T* ds) {
  for (std::int64_t j = 0; j < n; ++j) {
    double const x = std::exp(z[j] - lse), k = keep != nullptr ? keep[j] : 1.0;
    p[j] = x * k;
    ds[j] = x * (dp[j] * k - delta);
  }
  for (auto j = n; j < width; ++j) p[j] = ds[j] = 0;
}

template <int>
void threshold_lanes(std::uint32_t const* words, std::int64_t n, std::uint32_t dropped, double factor, double* to) {
  for (std::int64_t j = 0; j < n; ++j) to[j] = words[j] < dropped ? 0 : factor;
}

template <int, class T>
void scale_lanes(double const* from, double factor, std::int64_t n, T* to) {
  for (std::int64_t j = 0; j < n; ++j) to[j] = from[j] * factor;
}

template <int>
double dot_lanes(double const* a, double const* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t j = 0; j < n; ++j) sum += a[j] * b[j];
  return sum;
}

}  // namespace redco::kernel::cpu
