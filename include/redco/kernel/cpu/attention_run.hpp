#pragma once

#include <redco/kernel/cpu/attention_panels.hpp>
#include <redco/kernel/cpu/attention_problem.hpp>
#include <redco/kernel/cpu/attention_rows.hpp>
#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/cpu/product.hpp>
#include <redco/kernel/cpu/scratch.hpp>
#include <redco/kernel/cpu/sparse_attention.hpp>
#include <redco/tensor/parallel.hpp>

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
  sum ends[64];  // factors of the rows' outputs
  turned_rows<T, 42> const keys({a.k.at(b, 0, kv), a.k.row_stride}, a.keys, d, a.queries);
  straight_rows<T, 43> const values({a.v.at(b, 0, kv), a.v.row_stride}, a.keys, d, a.queries);

  for (std::int64_t i0 = 0; i0 < a.queries; i0 += block) {
    auto const rows = std::min(block, a.queries - i0), last = a.visible(i0 + rows - 1), first = a.first_column(b, i0),
               some = last - first;
    keys.multiply(rows, first, some, a.scale(), {a.q.at(b, i0, h * d), a.q.row_stride}, z + first, stride);
    for (std::int64_t r = 0; r < rows; ++r) {
      auto const i = i0 + r, n = a.visible(i);
      sum* const row = z + r * stride;
      if (a.soft_cap() > 0) soft_cap_lanes<W>(row + first, n - first, a.soft_cap(), static_cast<sum*>(nullptr));
      if (!a.adjust(row, first, n, b, h, i) &&
          a.skip_row(a.row_of(b, h, i), row + first, n - first, p + r * stride + first, some, ends[r]))
        continue;
      sum const* const keep = keep_factors<W>(a, words, factors, n, b, h, i);
      sum top;
      sum const total = softmax_lanes<W>(row + first, n - first, some, keep == nullptr ? keep : keep + first,
                                         p + r * stride + first, top);
      ends[r] = a.end_row(b, h, i, top, total);
    }
    values.multiply(rows, first, some, sum(1), {p + first, stride}, o, d);
    for (std::int64_t r = 0; r < rows; ++r) scale_lanes<W>(o + r * d, ends[r], d, a.out.at(b, i0 + r, h * d));
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
    if (a.walks_blocks()) sparse_forward_head<W>(a, b, h);
    else attention_forward_head<W>(a, b, h);
  }
};

/// Computes the gradients for key-value head `g` of example `b` and for the query heads that read
/// it. Recomputes the probabilities from the log-sum-exp, one block of query rows at a time.
///
/// Computes the last block of rows first. It sees the last keys, so it writes dk and dv; the other
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
  // Derivatives of the soft cap of one row of scores; null without a soft cap.
  sum* const slopes = a.soft_cap() > 0 ? scratch<sum, 12>(stride) : nullptr;
  matrix<T> const keys{a.k.at(b, 0, g * d), a.k.row_stride}, values{a.v.at(b, 0, g * d), a.v.row_stride};
  turned_rows<T, 42> const keys_turned(keys, a.keys, d, a.queries);
  turned_rows<T, 44> const values_turned(values, a.keys, d, a.queries);
  straight_rows<T, 43> const keys_straight(keys, a.keys, d, a.queries);

  auto const clear = [&](std::int64_t begin, std::int64_t end) {
    for (auto j = begin; j < end; ++j)
      std::fill_n(dk + j * k_stride, d, sum(0)), std::fill_n(dv + j * v_stride, d, sum(0));
  };
  bool written = false;
  for (std::int64_t h = g * a.group(); h < (g + 1) * a.group(); ++h) {
    for (std::int64_t i0 = (a.queries - 1) / block * block; i0 >= 0; i0 -= block) {
      auto const rows = std::min(block, a.queries - i0), last = a.visible(i0 + rows - 1), first = a.first_column(b, i0),
                 some = last - first;
      matrix<T> const q{a.q.at(b, i0, h * d), a.q.row_stride}, grad{a.grad.at(b, i0, h * d), a.grad.row_stride};
      keys_turned.multiply(rows, first, some, a.scale(), q, z + first, stride);
      values_turned.multiply(rows, first, some, sum(1), grad, dz + first, stride);
      for (std::int64_t r = 0; r < rows; ++r) {
        auto const i = i0 + r, n = a.visible(i);
        sum* const row = z + r * stride;
        T* const ds_row = ds + r * stride;
        if (slopes != nullptr) soft_cap_lanes<W>(row + first, n - first, a.soft_cap(), slopes + first);
        bool const sees = a.adjust(row, first, n, b, h, i);
        auto const delta = dot_lanes<W>(grad.data + r * grad.stride, static_cast<T const*>(a.out.at(b, i, h * d)), d);
        a.add_sink_gradient(b, h, i, delta);
        sum const* const keep = keep_factors<W>(a, words, factors, n, b, h, i);
        softmax_backward_lanes<W>(row + first, dz + r * stride + first, n - first, some,
                                  keep == nullptr ? keep : keep + first, a.lse[a.row_of(b, h, i)], delta,
                                  p + r * stride + first, ds_row + first);
        // scores of a query without visible keys are constants
        if (!sees) std::fill(ds_row + first, ds_row + n, T(0));
        if (a.dbias != nullptr) {
          auto* const db = a.dbias + a.bias_row(b, h, i);
          for (std::int64_t j = first; j < n; ++j) db[j] += static_cast<sum>(ds_row[j]);
        }
        // The bias is added after the cap, so its gradient does not contain the cap's derivative.
        if (slopes != nullptr) multiply_lanes<W>(ds_row + first, n - first, slopes + first);
      }
      if constexpr (direct) dq = a.dq.at(b, i0, h * d);
      keys_straight.multiply(rows, first, some, a.scale(), {ds + first, stride}, dq, q_stride);
      multiply_turned<T>(some, d, rows, a.scale(), {ds + first, stride}, q, written, dk + first * k_stride, k_stride);
      multiply_turned<T>(some, d, rows, sum(1), {p + first, stride}, grad, written, dv + first * v_stride, v_stride);
      if (!written) clear(0, first), clear(last, a.keys);
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
    if (a.walks_blocks()) sparse_backward_head<W>(a, b, g);
    else attention_backward_head<W>(a, b, g);
  }
};

/// Computes attention of all heads of all examples, in parallel over heads and examples.
template <class T>
void run_attention_forward(attention_problem<T> const& a) {
  tensors::parallel(a.batch * a.heads(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto task = begin; task < end; ++task) {
      with_lanes<T>(attention_forward_task<T>{a, task / a.heads(), task % a.heads()});
    }
  });
}

/// Computes the gradients of attention for all heads of all examples. If examples share a bias, the
/// bias gradient is a sum over examples. Threads then divide the work by heads only, so that no two
/// threads write to one element.
template <class T>
void run_attention_backward(attention_problem<T> const& a) {
  auto const groups = a.options.kv_heads;
  if (a.dbias != nullptr && a.bias_shared) {
    tensors::parallel(groups, 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto g = begin; g < end; ++g) {
        for (std::int64_t b = 0; b < a.batch; ++b) with_lanes<T>(attention_backward_task<T>{a, b, g});
      }
    });
    return;
  }
  tensors::parallel(a.batch * groups, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto task = begin; task < end; ++task) {
      with_lanes<T>(attention_backward_task<T>{a, task / groups, task % groups});
    }
  });
}

}  // namespace redco::kernel::cpu
