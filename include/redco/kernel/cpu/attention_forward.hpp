#pragma once

#include <redco/kernel/cpu/attention_exact.hpp>
#include <redco/kernel/cpu/attention_problem.hpp>
#include <redco/kernel/cpu/attention_rows.hpp>
#include <redco/kernel/cpu/gemm.hpp>
#include <redco/kernel/cpu/scratch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace redco::kernel::cpu {

/// Computes the output and the log-sum-exp of head `h` of example `b`, one block of query rows at a
/// time: scores, softmax, product with v.
template <int W, class T>
[[gnu::always_inline]] inline void attention_forward_head(attention_problem<T> const& a, std::int64_t b,
                                                          std::int64_t h) {
  using sum = sum_of<T>;
  auto const block = query_rows(a.keys), stride = a.stride(), d = a.width;
  auto const kv = h / a.group() * d;
  sum* const z = scratch<sum, 0>(block * stride);
  sum* const o = scratch<sum, 1>(block * d);
  T* p;  // in f32 and f64 the probabilities overwrite the scores
  if constexpr (std::is_same_v<T, sum>) {
    p = z;
  } else {
    p = scratch<T, 2>(block * stride);
  }
  auto* const words = scratch<std::uint32_t, 7>(stride);
  sum* const factors = scratch<sum, 8>(stride);
  sum total[64];
  matrix<T> const keys{a.k.at(b, 0, kv), a.k.row_stride, true}, values{a.v.at(b, 0, kv), a.v.row_stride};

  for (std::int64_t i0 = 0; i0 < a.queries; i0 += block) {
    auto const rows = std::min(block, a.queries - i0), last = a.visible(i0 + rows - 1);
    gemm(rows, last, d, a.scale(), matrix<T>{a.q.at(b, i0, h * d), a.q.row_stride}, keys, sum(0), z, stride);
    for (std::int64_t r = 0; r < rows; ++r) {
      auto const i = i0 + r, n = a.visible(i);
      sum* const row = z + r * stride;
      a.adjust(row, n, b, h, i);
      sum top;
      total[r] = softmax_lanes<W>(row, n, last, keep_factors<W>(a, words, factors, n, b, h, i), p + r * stride, top);
      a.lse[(b * a.heads() + h) * a.queries + i] = top + std::log(total[r]);
    }
    gemm(rows, d, last, sum(1), matrix<T>{p, stride}, values, sum(0), o, d);
    for (std::int64_t r = 0; r < rows; ++r) scale_lanes<W>(o + r * d, 1 / total[r], d, a.out.at(b, i0 + r, h * d));
  }
}

/// The work of attention_forward_head for one head, as a function object for with_lanes, which
/// selects the CPU's vector width.
template <class T>
struct attention_forward_task {
  attention_problem<T> const& a;
  std::int64_t b, h;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    attention_forward_head<W>(a, b, h);
  }
};

}  // namespace redco::kernel::cpu
