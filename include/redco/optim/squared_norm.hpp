#pragma once

#include <redco/optim/detail/for_parts.hpp>
#include <redco/optim/detail/wide.hpp>
#include <redco/optim/norm_range.hpp>

#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace redco {

namespace detail {

/// The sum of squares of n elements in f64. Eight running sums, whatever the processor, so the order of the sum is
/// fixed.
template <class T>
[[gnu::always_inline]] inline double sum_of_squares(T const* x, std::int64_t n) {
  constexpr std::int64_t lanes = 8;
  double sums[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      double const value = static_cast<double>(x[i + lane]);
      sums[lane] += value * value;
    }
  for (std::int64_t lane = 0; i < n; ++i, ++lane) sums[lane] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

#if defined(__x86_64__)
template <class T>
[[gnu::target("avx2")]] inline double sum_of_squares_wide(T const* x, std::int64_t n) {
  return sum_of_squares(x, n);
}
#endif

/// Each block of the range on its own, then the blocks in their order: the same for every number of threads.
template <class T>
double blocked_sum_of_squares(at::Tensor const& flat) {
  constexpr std::int64_t block = 1 << 14;
  T const* const x = flat.const_data_ptr<T>();
  std::int64_t const n = flat.numel();
  std::vector<double> sums(static_cast<std::size_t>((n + block - 1) / block));
  at::Tensor const blocks =
      at::from_blob(sums.data(), {static_cast<std::int64_t>(sums.size())}, at::TensorOptions(at::kDouble));
  for_parts(
      blocks,
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t b = begin; b < end; ++b) {
          std::int64_t const length = std::min(block, n - b * block);
#if defined(__x86_64__)
          if (have_wide()) {
            sums[static_cast<std::size_t>(b)] = sum_of_squares_wide(x + b * block, length);
            continue;
          }
#endif
          sums[static_cast<std::size_t>(b)] = sum_of_squares(x + b * block, length);
        }
      },
      4);
  double total = 0;
  for (double const sum : sums) total += sum;
  return total;
}

inline double sum_of_squares_of(at::Tensor const& flat) {
  if (flat.scalar_type() == at::kDouble) return blocked_sum_of_squares<double>(flat);
  if (flat.scalar_type() == at::kBFloat16) return blocked_sum_of_squares<c10::BFloat16>(flat);
  return blocked_sum_of_squares<float>(flat.to(at::kFloat));
}

}  // namespace detail

/// The weighted sum of squares of a flat CPU gradient of any floating dtype over `ranges`, in f64, in an order that
/// depends on the ranges only. Requires the ranges to lie in the buffer.
inline double squared_norm(at::Tensor const& flat, std::span<norm_range const> ranges) {
  at::NoGradGuard const no_grad;
  double total = 0;
  for (norm_range const& range : ranges) {
    at::Tensor const part = flat.slice(0, range.begin, range.end);
    if (range.weight == 0 || part.numel() == 0) continue;
    total += range.weight * detail::sum_of_squares_of(part);
  }
  return total;
}

}  // namespace redco
