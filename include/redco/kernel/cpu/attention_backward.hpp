#pragma once

#include <redco/kernel/cpu/attention_exact.hpp>
#include <redco/kernel/cpu/attention_problem.hpp>
#include <redco/kernel/cpu/attention_rows.hpp>
#include <redco/kernel/cpu/gemm.hpp>
#include <redco/kernel/cpu/scratch.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace redco::kernel::cpu {

/// Computes the gradients for key-value head `g` of example `b` and for the query heads that read
/// it. Recomputes the probabilities from the log-sum-exp, one block of query rows at a time.
///
/// Computes the last block of rows first. It sees the most keys, so it writes dk and dv; the other
/// blocks add to them.
template <int W, class T>
[[gnu::always_inline]] inline void attention_backward_head(attention_problem<T> const& a, std::int64_t b,
                                                           std::int64_t g) {
  using sum = sum_of<T>;
  // True if T is the type of sums: then products write the gradients directly.
  constexpr bool direct = std::is_same_v<T, sum>;
  auto const block = query_rows(a.keys), stride = a.stride(), d = a.width;
  sum* const z = scratch<sum, 0>(block * stride);
  sum* const dz = scratch<sum, 3>(block * stride);
  T *p, *ds;
  sum *dq, *dk, *dv;
  std::int64_t q_stride, k_stride, v_stride;
  if constexpr (direct) {
    p = z, ds = dz;
    dk = a.dk.at(b, 0, g * d), dv = a.dv.at(b, 0, g * d);
    q_stride = a.dq.row_stride, k_stride = a.dk.row_stride, v_stride = a.dv.row_stride;
  } else {
    p = scratch<T, 2>(block * stride), ds = scratch<T, 4>(block * stride);
    dq = scratch<sum, 1>(block * d), dk = scratch<sum, 5>(a.keys * d), dv = scratch<sum, 6>(a.keys * d);
    q_stride = k_stride = v_stride = d;
  }
  auto* const words = scratch<std::uint32_t, 7>(stride);
  sum* const factors = scratch<sum, 8>(stride);
  matrix<T> const keys{a.k.at(b, 0, g * d), a.k.row_stride}, values{a.v.at(b, 0, g * d), a.v.row_stride, true};

  bool written = false;
  for (std::int64_t h = g * a.group(); h < (g + 1) * a.group(); ++h) {
    for (std::int64_t i0 = (a.queries - 1) / block * block; i0 >= 0; i0 -= block) {
      auto const rows = std::min(block, a.queries - i0), last = a.visible(i0 + rows - 1);
      T const *const q = a.q.at(b, i0, h * d), *const grad = a.grad.at(b, i0, h * d);
      gemm(rows, last, d, a.scale(), matrix<T>{q, a.q.row_stride}, matrix<T>{keys.data, keys.stride, true}, sum(0), z,
           stride);
      gemm(rows, last, d, sum(1), matrix<T>{grad, a.grad.row_stride}, values, sum(0), dz, stride);
      for (std::int64_t r = 0; r < rows; ++r) {
        auto const i = i0 + r, n = a.visible(i);
        sum* const row = z + r * stride;
        T* const ds_row = ds + r * stride;
        bool const sees = a.adjust(row, n, b, h, i);
        auto const delta = dot_lanes<W>(grad + r * a.grad.row_stride, static_cast<T const*>(a.out.at(b, i, h * d)), d);
        softmax_backward_lanes<W>(row, dz + r * stride, n, last, keep_factors<W>(a, words, factors, n, b, h, i),
                                  a.lse[(b * a.heads() + h) * a.queries + i], delta, p + r * stride, ds_row);
        // scores of a query without visible keys are constants
        if (!sees) std::fill_n(ds_row, n, T(0));
        if (a.dbias != nullptr) {
          auto* const db = a.dbias + a.bias_row(b, h, i);
          for (std::int64_t j = 0; j < n; ++j) db[j] += static_cast<sum>(ds_row[j]);
        }
      }
      if constexpr (direct) dq = a.dq.at(b, i0, h * d);
      auto const beta = static_cast<sum>(written);
      gemm(rows, d, last, a.scale(), matrix<T>{ds, stride}, keys, sum(0), dq, q_stride);
      gemm(last, d, rows, a.scale(), matrix<T>{ds, stride, true}, matrix<T>{q, a.q.row_stride}, beta, dk, k_stride);
      gemm(last, d, rows, sum(1), matrix<T>{p, stride, true}, matrix<T>{grad, a.grad.row_stride}, beta, dv, v_stride);
      if (!written) {
        for (auto j = last; j < a.keys; ++j)
          std::fill_n(dk + j * k_stride, d, sum(0)), std::fill_n(dv + j * v_stride, d, sum(0));
      }
      written = true;
      if constexpr (!direct) {
        for (std::int64_t r = 0; r < rows; ++r) scale_lanes<W>(dq + r * d, sum(1), d, a.dq.at(b, i0 + r, h * d));
      }
    }
  }
  if constexpr (!direct) {
    for (std::int64_t j = 0; j < a.keys; ++j) {
      scale_lanes<W>(dk + j * d, sum(1), d, a.dk.at(b, j, g * d));
      scale_lanes<W>(dv + j * d, sum(1), d, a.dv.at(b, j, g * d));
    }
  }
}

/// The work of attention_backward_head for one key-value head, as a function object for with_lanes,
/// which selects the CPU's vector width.
template <class T>
struct attention_backward_task {
  attention_problem<T> const& a;
  std::int64_t b, g;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    attention_backward_head<W>(a, b, g);
  }
};

}  // namespace redco::kernel::cpu
