#pragma once

#include <redco/update/detail/wide.hpp>

#include <redco/tensor/torch.hpp>

#include <cmath>
#include <cstdint>

namespace redco::update::detail {

/// Constants of one SGD update. They are computed in f64 and rounded once to T, the type in which
/// the kernel computes.
template <class T>
struct sgd_numbers {
  T scale;       // factor of the gradient
  T penalty;     // factor of the parameter in the gradient
  T keep;        // factor of the old momentum buffer
  T grad_part;   // factor of the gradient in the buffer
  T minus_rate;  // -lr
  T ahead;       // nesterov: factor of the buffer, added to the gradient
  bool nesterov;

  template <class U>
  sgd_numbers<U> rounded() const {
    return {U(scale), U(penalty), U(keep), U(grad_part), U(minus_rate), U(ahead), nesterov};
  }
};

template <class T, class Grad>
struct sgd_arrays {
  T* param;
  Grad const* grad;
  T* buffer;            // momentum buffer, or null
  c10::BFloat16* copy;  // bf16 copy of the parameters, or null
};

template <class T, class Grad>
[[gnu::always_inline]] inline void sgd_each(sgd_arrays<T, Grad> const& a, std::int64_t begin, std::int64_t end,
                                            sgd_numbers<T> const& c) {
  for (std::int64_t i = begin; i < end; ++i) {
    T const p = a.param[i];
    T const g = std::fma(c.penalty, p, static_cast<T>(a.grad[i]) * c.scale);
    T direction = g;
    if (a.buffer) {
      a.buffer[i] = direction = std::fma(c.keep, a.buffer[i], c.grad_part * g);
      if (c.nesterov) direction = std::fma(c.ahead, direction, g);
    }
    T const next = std::fma(c.minus_rate, direction, p);
    a.param[i] = next;
    if (a.copy) a.copy[i] = static_cast<float>(next);
  }
}

#if defined(__x86_64__)
/// Updates elements [begin, end) by SGD, eight at a time with AVX2. Returns the index of the first
/// element that is not updated; fewer than eight remain for the plain loop sgd_each, which gives
/// equal bits.
template <class Grad>
[[gnu::target("avx2,fma")]] inline std::int64_t sgd_wide(sgd_arrays<float, Grad> const& a, std::int64_t begin,
                                                         std::int64_t end, sgd_numbers<float> const& c) {
  __m256 const scale = _mm256_set1_ps(c.scale), penalty = _mm256_set1_ps(c.penalty), keep = _mm256_set1_ps(c.keep),
               grad_part = _mm256_set1_ps(c.grad_part), ahead = _mm256_set1_ps(c.ahead),
               minus_rate = _mm256_set1_ps(c.minus_rate);
  std::int64_t i = begin;
  for (; i + 8 <= end; i += 8) {
    __m256 const p = load_wide(a.param + i);
    __m256 const g = _mm256_fmadd_ps(penalty, p, _mm256_mul_ps(load_wide(a.grad + i), scale));
    __m256 direction = g;
    if (a.buffer) {
      direction = _mm256_fmadd_ps(keep, load_wide(a.buffer + i), _mm256_mul_ps(grad_part, g));
      _mm256_storeu_ps(a.buffer + i, direction);
      if (c.nesterov) direction = _mm256_fmadd_ps(ahead, direction, g);
    }
    __m256 const next = _mm256_fmadd_ps(minus_rate, direction, p);
    _mm256_storeu_ps(a.param + i, next);
    if (a.copy) store_wide(a.copy + i, next);
  }
  return i;
}

/// Updates f64 elements [begin, end) by SGD with the CPU's fused multiply-add instruction. Code
/// compiled without this target would call a library function for each fused multiply-add.
[[gnu::target("avx2,fma")]] inline std::int64_t sgd_wide(sgd_arrays<double, double> const& a, std::int64_t begin,
                                                         std::int64_t end, sgd_numbers<double> const& c) {
  sgd_each(a, begin, end, c);
  return end;
}
#endif

/// Updates the elements [begin, end) by SGD. `wide` allows AVX2 instructions; results are bit-equal
/// with and without them.
template <class T, class Grad>
void sgd_kernel(sgd_arrays<T, Grad> const& a, std::int64_t begin, std::int64_t end, sgd_numbers<T> const& c,
                [[maybe_unused]] bool wide) {
#if defined(__x86_64__)
  if (wide) begin = sgd_wide(a, begin, end, c);
#endif
  sgd_each(a, begin, end, c);
}

}  // namespace redco::update::detail
