#pragma once

#include <redco/kernel/cpu/attention_problem.hpp>
#include <redco/kernel/cpu/lanes.hpp>
#include <redco/tensor/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace redco::kernel::cpu {

/// A chunk of the logits [rows, columns] that this rank's vocabulary shard gives, with `stride`
/// elements between rows. Columns from `valid` on are padding.
template <class T>
struct logit_chunk {
  using sum = sum_of<T>;

  T* logits;
  std::int64_t rows, columns, stride, valid;
  std::int64_t const* labels;  // global vocabulary entries
  std::int64_t first, ignored;
  sum* top;  // [rows]: row maxima, of this shard, then of all shards
  // [2, rows]: sums of exp(x - top), and x - top at the label (0 if another shard has it). First of
  // this shard, then summed over all shards.
  sum* stats;

  /// Returns the column of the label of row `r` in this shard. Returns -1 if the label belongs to
  /// another shard or the row is ignored.
  std::int64_t label(std::int64_t r) const {
    auto const column = labels[r] - first;
    return column >= 0 && column < valid && labels[r] != ignored ? column : -1;
  }
};

/// Loads the last n elements of a row into a vector of W > n elements, and fills the rest with
/// `fill`.
template <int W>
[[gnu::always_inline]] inline void load_tail(typename lanes<W>::real& x, float fill, auto const* from, std::int64_t n) {
  float buffer[W];
  for (std::int64_t j = 0; j < W; ++j) buffer[j] = j < n ? static_cast<float>(from[j]) : fill;
  load_lanes<W>(x, static_cast<float const*>(buffer));
}

/// A task that computes the maximum of each row of a chunk of logits, for rows [begin, end).
template <class T>
struct top_of_rows {
  logit_chunk<T> const& c;
  std::int64_t begin, end;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    using sum = sum_of<T>;
    constexpr auto lowest = -std::numeric_limits<sum>::infinity();
    for (auto r = begin; r < end; ++r) {
      T const* const row = c.logits + r * c.stride;
      sum top = lowest;
      if constexpr (std::is_same_v<T, double>) {
        for (std::int64_t j = 0; j < c.valid; ++j) top = std::max(top, row[j]);
      } else {
        typename lanes<W>::real x, most = {};
        most += lowest;
        std::int64_t j = 0;
        for (; j + W <= c.valid; j += W) {
          load_lanes<W>(x, row + j);
          most = most > x ? most : x;
        }
        load_tail<W>(x, lowest, row + j, c.valid - j);
        most = most > x ? most : x;
        for (int i = 0; i < W; ++i) top = std::max(top, most[i]);
      }
      c.top[r] = top;
    }
  }
};

/// A task that computes, for rows [begin, end) of a chunk of logits, the sum of exponentials and
/// the label's logit. Both are relative to the row's maximum over all vocabulary shards.
template <class T>
struct sums_of_rows {
  logit_chunk<T> const& c;
  std::int64_t begin, end;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    using sum = sum_of<T>;
    for (auto r = begin; r < end; ++r) {
      T const* const row = c.logits + r * c.stride;
      auto const top = c.top[r];
      sum total = 0;
      if constexpr (std::is_same_v<T, double>) {
        for (std::int64_t j = 0; j < c.valid; ++j) total += std::exp(row[j] - top);
      } else {
        typename lanes<W>::real x, part = {};
        std::int64_t j = 0;
        for (; j + W <= c.valid; j += W) {
          load_lanes<W>(x, row + j);
          x -= top;
          exp_lanes<W>(x);
          part += x;
        }
        load_tail<W>(x, -std::numeric_limits<float>::infinity(), row + j, c.valid - j);
        x -= top;
        exp_lanes<W>(x);
        part += x;
        total = sum_of_lanes<W>(part);
      }
      c.stats[r] = total;
      auto const label = c.label(r);
      c.stats[c.rows + r] = label >= 0 ? static_cast<sum>(row[label]) - top : sum(0);
    }
  }
};

/// A task that replaces the logits of rows [begin, end) by the gradient of each row's loss: the
/// probabilities, minus one at the label. Padding and ignored rows become zero.
template <class T>
struct gradient_of_rows {
  logit_chunk<T> const& c;
  std::int64_t begin, end;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    for (auto r = begin; r < end; ++r) {
      T* const row = c.logits + r * c.stride;
      if (c.labels[r] == c.ignored) {
        std::fill_n(row, c.columns, T(0));
        continue;
      }
      auto const label = c.label(r);
      auto const lse = c.top[r] + std::log(c.stats[r]);
      auto const at_label = label >= 0 ? std::exp(static_cast<sum_of<T>>(row[label]) - lse) - 1 : 0;
      if constexpr (std::is_same_v<T, double>) {
        for (std::int64_t j = 0; j < c.valid; ++j) row[j] = std::exp(row[j] - lse);
      } else {
        typename lanes<W>::real x;
        std::int64_t j = 0;
        for (; j + W <= c.valid; j += W) {
          load_lanes<W>(x, row + j);
          x -= lse;
          exp_lanes<W>(x);
          store_lanes<W>(row + j, x);
        }
        for (; j < c.valid; ++j) row[j] = static_cast<T>(std::exp(static_cast<float>(row[j]) - lse));
      }
      if (label >= 0) row[label] = static_cast<T>(at_label);
      std::fill(row + c.valid, row + c.columns, T(0));
    }
  }
};

/// Executes the task `Stage` (top_of_rows, sums_of_rows or gradient_of_rows) for all rows of a
/// chunk of logits, on several threads.
template <template <class> class Stage, class T>
void over_rows(logit_chunk<T> const& c) {
  auto const grain = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(c.columns, 1));
  tensors::parallel(c.rows, grain, [&](std::int64_t begin, std::int64_t end) {
    with_lanes<T>(Stage<T>{c, begin, end});
  });
}

}  // namespace redco::kernel::cpu
