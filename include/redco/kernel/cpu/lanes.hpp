#pragma once

#include <redco/tensor/torch.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace redco::kernel::cpu {

// Functions on W lanes of f32, written with the compiler's vector type: one source serves every
// instruction set.
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

// Stores the lanes; bf16 is rounded to nearest even.
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

// Replaces x <= 88 by exp(x), accurate to 1.2 units in the last place (polynomial of Cephes). The
// result is exactly 0 for x < -87.3; NaN stays NaN.
template <int W>
[[gnu::always_inline]] inline void exp_lanes(typename lanes<W>::real& x) {
  using real = typename lanes<W>::real;
  using word = typename lanes<W>::word;
  // shift = 1.5 * 2^23: adding it rounds to an integer in the low bits.
  constexpr float lowest = -87.3f, shift = 12582912.0f;
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

/// Replaces x by tanh(x), accurate to 2 units in the last place. Below 0.625 it is x + x^3 P(x^2)
/// with Cephes' polynomial P, beyond 1 - 2 / (exp(2 |x|) + 1) with the sign of x.
template <int W>
[[gnu::always_inline]] inline void tanh_lanes(typename lanes<W>::real& x) {
  using real = typename lanes<W>::real;
  real const zero = {}, saturated = zero + 10.0f;  // where tanh is 1 in f32
  real const positive = x < zero ? -x : x, bounded = positive > saturated ? saturated : positive;
  real e = bounded + bounded;
  exp_lanes<W>(e);
  real const far = 1.0f - 2.0f / (e + 1.0f), q = x * x;
  real p = q * -5.70498872745e-3f + 2.06390887954e-2f;
  p = p * q + -5.37397155531e-2f;
  p = p * q + 1.33314422036e-1f;
  p = p * q + -3.33332819422e-1f;
  real const near = x + x * (q * p), signed_far = x < zero ? -far : far;
  x = positive < 0.625f ? near : signed_far;
}

template <int W>
[[gnu::always_inline]] inline float sum_of_lanes(typename lanes<W>::real const& x) {
  float sum = 0;
  for (int i = 0; i < W; ++i) sum += x[i];
  return sum;
}

/// Writes for each of the `n` random words: 0 if the word is below `dropped`, else `factor`.
/// `words` and `to` must have room for n rounded up to a multiple of 16 elements.
template <int W>
[[gnu::always_inline]] inline void threshold_lanes(std::uint32_t const* words, std::int64_t n, std::uint32_t dropped,
                                                   float factor, float* to) {
  typename lanes<W>::real const zero = {};
  typename lanes<W>::word w;
  for (std::int64_t j = 0; j < n; j += W) {
    std::memcpy(&w, words + j, sizeof w);
    store_lanes<W>(to + j, w < dropped ? zero : zero + factor);
  }
}

/// Writes factor * from[i] to to[i] for i in [0, n), rounded to T.
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

#if defined(__x86_64__)
template <class Body>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]] void with_avx512(Body const& body) {
  body.template operator()<16>();
}

template <class Body>
[[gnu::target("avx2,fma")]] void with_avx2(Body const& body) {
  body.template operator()<8>();
}

/// Calls `body` compiled for vectors of 4 f32 elements, for CPUs without AVX2. Marked cold, so that
/// the compiler spends little time on it.
template <class Body>
[[gnu::cold, gnu::noinline]] void with_sse(Body const& body) {
  body.template operator()<4>();
}

/// Returns the number of f32 elements in the widest vector that this CPU supports: 16, 8 or 4.
inline int widest_lanes() {
  static int const widest = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
      return 16;
    }
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 8 : 4;
  }();
  return widest;
}

#endif

/// Calls body.operator()<W>() compiled for vectors of W f32 elements, the widest that this CPU
/// supports. For T = double, the body is compiled once as a plain loop. The operator must be
/// always_inline, because otherwise it is compiled for the instruction set of the file.
template <class T, class Body>
void with_lanes(Body const& body) {
#if defined(__x86_64__)
  if constexpr (!std::is_same_v<T, double>) {
    int const lanes = widest_lanes();
    return lanes == 16 ? with_avx512(body) : lanes == 8 ? with_avx2(body) : with_sse(body);
  }
#endif
  body.template operator()<4>();
}

/// Computes the sigmoid s = 1 / (1 + exp(-z)) and its derivative d. Both are accurate to a few
/// units in the last place and stay finite for |z| > 87. d is computed as exp(-z) s^2, because the
/// subtraction in s (1 - s) would lose digits.
template <int W>
[[gnu::always_inline]] inline void sigmoid_lanes(typename lanes<W>::real& s, typename lanes<W>::real& d,
                                                 typename lanes<W>::real const& z) {
  using real = typename lanes<W>::real;
  real const bound = real{} + 87.0f;
  real e = z < -bound ? bound : -z;
  exp_lanes<W>(e);
  s = 1.0f / (1.0f + e);
  d = e * s * s;
}

inline void sigmoid_exact(double& s, double& d, double z) {
  double const e = std::exp(z < -700 ? 700 : -z);
  s = 1 / (1 + e);
  d = e * s * s;
}

}  // namespace redco::kernel::cpu
