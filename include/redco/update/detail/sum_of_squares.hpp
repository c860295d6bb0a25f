#pragma once

#include <redco/update/detail/wide.hpp>

#include <redco/tensor/parallel.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace redco::update::detail {

/// Adds the squares of x[begin, end) to eight f64 sums: element i to sums[i % 8]. Code for every
/// CPU uses these eight sums, so the order of summation is fixed.
template <class T>
void add_squares(T const* x, std::int64_t begin, std::int64_t end, double* sums) {
  for (std::int64_t i = begin; i < end; ++i) {
    double const value = static_cast<double>(x[i]);
    sums[i % 8] += value * value;
  }
}

#if defined(__x86_64__)
/// Writes to `sums` eight f64 sums of squares of x[0, end), eight elements at a time with AVX2.
/// Returns the index of the first element that is not included. Results equal the plain loop's bit
/// by bit: squares of f32 and bf16 are exact in f64. Squares of f64 are not, so f64 uses the plain
/// loop.
template <class T>
[[gnu::target("avx2,fma")]] inline std::int64_t add_squares_wide(T const* x, std::int64_t end, double* sums) {
  __m256d first = _mm256_setzero_pd(), second = _mm256_setzero_pd();
  std::int64_t i = 0;
  for (; i + 8 <= end; i += 8) {
    __m256 const values = load_wide(x + i);
    __m256d const low = _mm256_cvtps_pd(_mm256_castps256_ps128(values));
    __m256d const high = _mm256_cvtps_pd(_mm256_extractf128_ps(values, 1));
    first = _mm256_fmadd_pd(low, low, first);
    second = _mm256_fmadd_pd(high, high, second);
  }
  _mm256_storeu_pd(sums, first);
  _mm256_storeu_pd(sums + 4, second);
  return i;
}
#endif

template <class T>
double sum_of_squares(T const* x, std::int64_t n, [[maybe_unused]] bool wide) {
  double sums[8] = {};
  std::int64_t begin = 0;
#if defined(__x86_64__)
  if constexpr (!std::is_same_v<T, double>)
    if (wide) begin = add_squares_wide(x, n, sums);
#endif
  add_squares(x, begin, n, sums);
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/// Returns the sum of squares of `n` elements. Sums blocks of 16384 elements separately and
/// then adds the blocks in order, so the result is independent of the number of threads.
template <class T>
double blocked_sum_of_squares(T const* x, std::int64_t n) {
  constexpr std::int64_t block = 1 << 14;
  if (n <= block) return sum_of_squares(x, n, has_avx2());
  std::vector<double> sums(static_cast<std::size_t>((n + block - 1) / block));
  tensors::parallel(static_cast<std::int64_t>(sums.size()), 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b)
      sums[static_cast<std::size_t>(b)] = sum_of_squares(x + b * block, std::min(block, n - b * block), has_avx2());
  });
  double total = 0;
  for (double const sum : sums) total += sum;
  return total;
}

/// Returns the sum of squares of elements [begin, end) of a contiguous tensor.
inline double sum_of_squares_of(at::Tensor const& flat, std::int64_t begin, std::int64_t end) {
  auto const sum = [&]<class T>(T const* x) { return blocked_sum_of_squares(x + begin, end - begin); };
  if (flat.scalar_type() == at::kDouble) return sum(flat.const_data_ptr<double>());
  if (flat.scalar_type() == at::kBFloat16) return sum(flat.const_data_ptr<c10::BFloat16>());
  if (flat.scalar_type() == at::kFloat) return sum(flat.const_data_ptr<float>());
  at::Tensor const wide = flat.slice(0, begin, end).to(at::kFloat);
  return blocked_sum_of_squares(wide.const_data_ptr<float>(), wide.numel());
}

}  // namespace redco::update::detail
