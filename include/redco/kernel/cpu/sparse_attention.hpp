#pragma once

#include <redco/kernel/cpu/attention_problem.hpp>
#include <redco/kernel/cpu/attention_rows.hpp>
#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/cpu/product.hpp>
#include <redco/kernel/cpu/scratch.hpp>
#include <redco/kernel/cpu/sparse_walk.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace redco::kernel::cpu {

/// Computes the output and the log-sum-exp of head `h` of example `b` with a pattern of blocks, one
/// tile of query rows at a time. Computes the scores of live blocks only.
template <int W, class T>
[[gnu::always_inline]] inline void sparse_forward_head(attention_problem<T> const& a, std::int64_t b, std::int64_t h) {
  using sum = sum_of<T>;
  auto const d = a.width;
  sparse_walk<T> walk(a, b, h);
  while (walk.next()) {
    sparse_tile const& t = walk.tile();
    auto const rows = t.end - t.begin, i0 = t.begin - a.options.query0;
    sum* const z = scratch<sum, 0>(rows * t.stride);
    sum* const o = scratch<sum, 1>(rows * d);
    sum* const ends = scratch<sum, 18>(rows);
    T* p;  // in f32 and f64 the probabilities overwrite the scores
    if constexpr (std::is_same_v<T, sum>) {
      p = z;
    } else {
      p = scratch<T, 2>(rows * t.stride);
    }
    auto* const words = scratch<std::uint32_t, 7>(t.stride);
    sum* const factors = scratch<sum, 8>(t.stride);
    walk.score({a.q.at(b, i0, h * d), a.q.row_stride}, a.scale(), walk.keys(), z);
    for (std::int64_t r = 0; r < rows; ++r) {
      auto const n = walk.columns(r);
      sum* const row = z + r * t.stride;
      if (a.soft_cap() > 0) soft_cap_lanes<W>(row, n, a.soft_cap(), static_cast<sum*>(nullptr));
      walk.adjust(row, r);
      sum const* keep = nullptr;
      if (walk.draws(words, r)) {
        threshold_lanes<W>(words, n, a.options.dropped_below(), static_cast<sum>(1 / (1 - a.options.dropout)), factors);
        keep = factors;
      }
      sum top;
      sum const total = softmax_lanes<W>(row, n, walk.product_columns(r), keep, p + r * t.stride, top);
      ends[r] = a.end_row(b, h, i0 + r, top, total);
    }
    walk.combine(p, sum(1), walk.values(), o, d);
    for (std::int64_t r = 0; r < rows; ++r) scale_lanes<W>(o + r * d, ends[r], d, a.out.at(b, i0 + r, h * d));
  }
}

/// Computes the gradients for key-value head `g` of example `b` and for the query heads that read
/// it, with a pattern of blocks. Recomputes the probabilities of live blocks, one tile at a time.
template <int W, class T>
[[gnu::always_inline]] inline void sparse_backward_head(attention_problem<T> const& a, std::int64_t b, std::int64_t g) {
  using sum = sum_of<T>;
  // True if T is the type of sums: then products write the gradients directly.
  constexpr bool direct = std::is_same_v<T, sum>;
  auto const d = a.width;
  key_gradients<sum> near;  // gradients of all keys and values
  if constexpr (direct) {
    near = {a.dk.at(b, 0, g * d), a.dv.at(b, 0, g * d), a.dk.row_stride, a.dv.row_stride};
  } else {
    near = {scratch<sum, 5>(a.keys * d), scratch<sum, 6>(a.keys * d), d, d};
  }
  near.clear(a.keys, d);
  for (std::int64_t h = g * a.group(); h < (g + 1) * a.group(); ++h) {
    sparse_walk<T> walk(a, b, h);
    key_gradients<sum> far{scratch<sum, 16>(walk.far_room()), scratch<sum, 17>(walk.far_room()), d, d};
    far.clear(walk.far_room() / d, d);
    while (walk.next()) {
      sparse_tile const& t = walk.tile();
      auto const rows = t.end - t.begin, i0 = t.begin - a.options.query0;
      sum* const z = scratch<sum, 0>(rows * t.stride);
      sum* const dz = scratch<sum, 3>(rows * t.stride);
      T *p, *ds;
      sum* dq;
      std::int64_t q_stride;
      if constexpr (direct) {
        p = z, ds = dz, dq = a.dq.at(b, i0, h * d), q_stride = a.dq.row_stride;
      } else {
        p = scratch<T, 2>(rows * t.stride), ds = scratch<T, 4>(rows * t.stride);
        dq = scratch<sum, 1>(rows * d), q_stride = d;
      }
      auto* const words = scratch<std::uint32_t, 7>(t.stride);
      sum* const factors = scratch<sum, 8>(t.stride);
      // Derivatives of the soft cap of one row of scores; null without a soft cap.
      sum* const slopes = a.soft_cap() > 0 ? scratch<sum, 12>(t.stride) : nullptr;
      matrix<T> const q{a.q.at(b, i0, h * d), a.q.row_stride}, grad{a.grad.at(b, i0, h * d), a.grad.row_stride};
      walk.score(q, a.scale(), walk.keys(), z);
      walk.score(grad, sum(1), walk.values(), dz);
      for (std::int64_t r = 0; r < rows; ++r) {
        auto const n = walk.columns(r), i = i0 + r;
        sum* const row = z + r * t.stride;
        T* const ds_row = ds + r * t.stride;
        if (slopes != nullptr) soft_cap_lanes<W>(row, n, a.soft_cap(), slopes);
        bool const sees = walk.adjust(row, r);
        auto const delta = dot_lanes<W>(grad.data + r * grad.stride, static_cast<T const*>(a.out.at(b, i, h * d)), d);
        a.add_sink_gradient(b, h, i, delta);
        sum const* keep = nullptr;
        if (walk.draws(words, r)) {
          threshold_lanes<W>(words, n, a.options.dropped_below(), static_cast<sum>(1 / (1 - a.options.dropout)),
                             factors);
          keep = factors;
        }
        softmax_backward_lanes<W>(row, dz + r * t.stride, n, walk.product_columns(r), keep, a.lse[a.row_of(b, h, i)],
                                  delta, p + r * t.stride, ds_row);
        // scores of a query without visible keys are constants
        if (!sees) std::fill_n(ds_row, n, T(0));
        walk.add_bias_gradient(ds_row, r);
        // The bias is added after the cap, so its gradient does not contain the cap's derivative.
        if (slopes != nullptr) multiply_lanes<W>(ds_row, n, slopes);
      }
      walk.combine(ds, a.scale(), walk.keys(), dq, q_stride);
      walk.accumulate(ds, q, a.scale(), far.dk, near.dk, near.k_stride);
      walk.accumulate(p, grad, sum(1), far.dv, near.dv, near.v_stride);
      if constexpr (!direct) {
        for (std::int64_t r = 0; r < rows; ++r) scale_lanes<W>(dq + r * d, sum(1), d, a.dq.at(b, i0 + r, h * d));
      }
    }
    walk.add_far(far, near);
  }
  if constexpr (!direct) {
    for (std::int64_t j = 0; j < a.keys; ++j) {
      scale_lanes<W>(near.dk + j * d, sum(1), d, a.dk.at(b, j, g * d));
      scale_lanes<W>(near.dv + j * d, sum(1), d, a.dv.at(b, j, g * d));
    }
  }
}

}  // namespace redco::kernel::cpu
