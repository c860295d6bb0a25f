#pragma once

#include <redco/tensor/torch.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace redco::detail {

/// Columns of a block of scores are padded to this many, so that vector loops have no tail.
inline constexpr std::int64_t score_lanes = 16;

constexpr std::int64_t padded_columns(std::int64_t n) { return (n + score_lanes - 1) / score_lanes * score_lanes; }

// W lanes of f32 as the compiler's own vector type: one source for every instruction set.
template <int W>
struct lanes {
  typedef float real __attribute__((vector_size(4 * W)));
  typedef std::uint32_t word __attribute__((vector_size(4 * W)));
  typedef std::uint16_t half __attribute__((vector_size(2 * W)));
};

template <int W, class T>
[[gnu::always_inline]] inline void load_lanes(typename lanes<W>::real& x, T const* from) {
  if constexpr (std::is_same_v<T, float>) {
    std::memcpy(&x, from, sizeof x);
  } else {
    typename lanes<W>::half h;
    std::memcpy(&h, from, sizeof h);
    auto const w = __builtin_convertvector(h, typename lanes<W>::word) << 16;
    std::memcpy(&x, &w, sizeof x);
  }
}

// bf16 is rounded to nearest even.
template <int W, class T>
[[gnu::always_inline]] inline void store_lanes(T* to, typename lanes<W>::real const& x) {
  if constexpr (std::is_same_v<T, float>) {
    std::memcpy(to, &x, sizeof x);
  } else {
    typename lanes<W>::word w;
    std::memcpy(&w, &x, sizeof w);
    w = (w + 0x7fffu + ((w >> 16) & 1u)) >> 16;
    auto const h = __builtin_convertvector(w, typename lanes<W>::half);
    std::memcpy(to, &h, sizeof h);
  }
}

// exp(x) for x <= 88 to 1.2 units in the last place (Cephes' polynomial); exactly 0 below -87.3, NaN stays NaN.
template <int W>
[[gnu::always_inline]] inline void exp_lanes(typename lanes<W>::real& x) {
  using real = typename lanes<W>::real;
  using word = typename lanes<W>::word;
  constexpr float lowest = -87.3f, shift = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer in the low bits
  real const zero = {};
  auto const gone = x < lowest;
  x = gone ? zero + lowest : x;
  real const t = x * 1.44269504f + shift;
  real const n = t - shift;
  real const r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  real y = r * 1.9875691500e-4f + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = y * (r * r) + r + 1.0f;
  word bits;
  std::memcpy(&bits, &t, sizeof bits);
  bits = (bits << 23) + 0x3f800000u;
  real power;
  std::memcpy(&power, &bits, sizeof power);
  x = gone ? zero : y * power;
}

template <int W>
[[gnu::always_inline]] inline float sum_of_lanes(typename lanes<W>::real const& x) {
  float sum = 0;
  for (int i = 0; i < W; ++i) sum += x[i];
  return sum;
}

/// In place, z[0, n) becomes exp(z - max z); `p` gets it times `keep` (where not null), and zeros up to `width`.
/// Returns the sum before `keep`, and the maximum in `top`. z, p and keep reach to padded_columns(n).
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

/// From scores z, their log-sum-exp and the gradient dp of the kept probabilities: p = exp(z - lse) keep, and
/// ds = exp(z - lse) (dp keep - delta); zeros from n to `width`. p may be z, ds may be dp.
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
  // The padding of dp holds anything, NaN included: 0 times it is no zero.
  for (auto j = n; j < end; ++j) ds[j] = T(0);
  for (auto j = end; j < width; ++j) p[j] = ds[j] = T(0);
}

/// to = factor * from, rounded to T.
template <int W, class T>
[[gnu::always_inline]] inline void scale_lanes(float const* from, float factor, std::int64_t n, T* to) {
  typename lanes<W>::real x;
  std::int64_t j = 0;
  for (; j + W <= n; j += W) {
    load_lanes<W>(x, from + j);
    x *= factor;
    store_lanes<W>(to + j, x);
  }
  for (; j < n; ++j) to[j] = static_cast<T>(from[j] * factor);
}

template <int W, class T>
[[gnu::always_inline]] inline float dot_lanes(T const* a, T const* b, std::int64_t n) {
  typename lanes<W>::real x, y, total = {};
  std::int64_t j = 0;
  for (; j + W <= n; j += W) {
    load_lanes<W>(x, a + j);
    load_lanes<W>(y, b + j);
    total += x * y;
  }
  float sum = sum_of_lanes<W>(total);
  for (; j < n; ++j) sum += static_cast<float>(a[j]) * static_cast<float>(b[j]);
  return sum;
}

}  // namespace redco::detail
