#pragma once

#include <redco/update/detail/wide.hpp>

#include <redco/tensor/torch.hpp>

#include <cmath>
#include <cstdint>

namespace redco::update::detail {

/// Constants of one Adam update. They are computed in f64 and rounded once to T, the type in which
/// the kernel computes.
template <class T>
struct adam_numbers {
  T scale;      // factor of the gradient
  T penalty;    // L2 penalty: factor of the parameter in the gradient
  T keep;       // decoupled decay: factor of the parameter
  T mean_part;  // 1 - beta1
  T beta2;
  T square_part;  // 1 - beta2
  T root_factor;  // 1 / sqrt(1 - beta2^t)
  T eps;
  T minus_rate;  // -lr / (1 - beta1^t)

  template <class U>
  adam_numbers<U> rounded() const {
    return {U(scale),       U(penalty),     U(keep), U(mean_part), U(beta2),
            U(square_part), U(root_factor), U(eps),  U(minus_rate)};
  }
};

template <class T, class Grad>
struct adam_arrays {
  T* param;
  Grad const* grad;
  T* mean;
  T* square;
  T* top;               // largest squares so far (amsgrad), or null
  c10::BFloat16* copy;  // bf16 copy of the parameters, or null
};

template <class T, class Grad>
[[gnu::always_inline]] inline void adam_each(adam_arrays<T, Grad> const& a, std::int64_t begin, std::int64_t end,
                                             adam_numbers<T> const& c) {
  for (std::int64_t i = begin; i < end; ++i) {
    T const p = a.param[i];
    T const g = std::fma(c.penalty, p, static_cast<T>(a.grad[i]) * c.scale);
    T const m = std::fma(c.mean_part, g - a.mean[i], a.mean[i]);
    T const v = std::fma(c.square_part * g, g, c.beta2 * a.square[i]);
    a.mean[i] = m;
    a.square[i] = v;
    T largest = v;
    if (a.top) a.top[i] = largest = v > a.top[i] ? v : a.top[i];
    T const root = std::fma(std::sqrt(largest), c.root_factor, c.eps);
    T const next = std::fma(c.minus_rate, m / root, p * c.keep);
    a.param[i] = next;
    if (a.copy) a.copy[i] = static_cast<float>(next);
  }
}

#if defined(__x86_64__)
/// Updates elements [begin, end) by Adam, eight at a time with AVX2. Returns the index of the first
/// element that is not updated; fewer than eight remain for the plain loop adam_each, which gives
/// equal bits.
template <class Grad>
[[gnu::target("avx2,fma")]] inline std::int64_t adam_wide(adam_arrays<float, Grad> const& a, std::int64_t begin,
                                                          std::int64_t end, adam_numbers<float> const& c) {
  __m256 const scale = _mm256_set1_ps(c.scale), penalty = _mm256_set1_ps(c.penalty), keep = _mm256_set1_ps(c.keep),
               mean_part = _mm256_set1_ps(c.mean_part), beta2 = _mm256_set1_ps(c.beta2),
               square_part = _mm256_set1_ps(c.square_part), root_factor = _mm256_set1_ps(c.root_factor),
               eps = _mm256_set1_ps(c.eps), minus_rate = _mm256_set1_ps(c.minus_rate);
  std::int64_t i = begin;
  for (; i + 8 <= end; i += 8) {
    __m256 const p = load_wide(a.param + i), old = load_wide(a.mean + i);
    __m256 const g = _mm256_fmadd_ps(penalty, p, _mm256_mul_ps(load_wide(a.grad + i), scale));
    __m256 const m = _mm256_fmadd_ps(mean_part, _mm256_sub_ps(g, old), old);
    __m256 const v = _mm256_fmadd_ps(_mm256_mul_ps(square_part, g), g, _mm256_mul_ps(beta2, load_wide(a.square + i)));
    _mm256_storeu_ps(a.mean + i, m);
    _mm256_storeu_ps(a.square + i, v);
    __m256 largest = v;
    if (a.top) {
      largest = _mm256_max_ps(v, load_wide(a.top + i));
      _mm256_storeu_ps(a.top + i, largest);
    }
    __m256 const root = _mm256_fmadd_ps(_mm256_sqrt_ps(largest), root_factor, eps);
    __m256 const next = _mm256_fmadd_ps(minus_rate, _mm256_div_ps(m, root), _mm256_mul_ps(p, keep));
    _mm256_storeu_ps(a.param + i, next);
    if (a.copy) store_wide(a.copy + i, next);
  }
  return i;
}

/// Updates f64 elements [begin, end) by Adam with the CPU's fused multiply-add instruction. Code
/// compiled without this target would call a library function for each fused multiply-add.
[[gnu::target("avx2,fma")]] inline std::int64_t adam_wide(adam_arrays<double, double> const& a, std::int64_t begin,
                                                          std::int64_t end, adam_numbers<double> const& c) {
  adam_each(a, begin, end, c);
  return end;
}
#endif

/// Updates the elements [begin, end) by Adam. `wide` allows AVX2 instructions; results are
/// bit-equal with and without them.
template <class T, class Grad>
void adam_kernel(adam_arrays<T, Grad> const& a, std::int64_t begin, std::int64_t end, adam_numbers<T> const& c,
                 [[maybe_unused]] bool wide) {
#if defined(__x86_64__)
  if (wide) begin = adam_wide(a, begin, end, c);
#endif
  adam_each(a, begin, end, c);
}

}  // namespace redco::update::detail
