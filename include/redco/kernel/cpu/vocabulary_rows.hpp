#pragma once

#include <redco/kernel/cpu/attention_problem.hpp>
#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/vocabulary_shard.hpp>
#include <redco/tensor/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace redco::kernel::cpu {

/// The targets of labels (see label_targets) with numbers of type `sum`.
template <class sum>
struct typed_targets {
  std::int64_t ignored;
  bool plain;
  sum kept, spread, total;
  sum const* weights;

  explicit typed_targets(label_targets const& t)
      : ignored(t.ignored),
        plain(t.plain()),
        kept(static_cast<sum>(t.kept)),
        spread(static_cast<sum>(t.spread)),
        total(static_cast<sum>(t.total)),
        weights(t.weights.defined() ? t.weights.template const_data_ptr<sum>() : nullptr) {}
};

/// A chunk of the logits [rows, columns] that this rank's vocabulary shard gives, with `stride`
/// elements between rows. Columns from `valid` on are padding.
template <class T>
struct logit_chunk {
  using sum = sum_of<T>;

  T* logits;
  std::int64_t rows, columns, stride, valid;
  std::int64_t const* labels;  // global vocabulary entries
  std::int64_t first;
  typed_targets<sum> targets;
  sum soft_cap;  // bound of the logits; 0: none
  sum* top;      // [rows]: row maxima, of this shard, then of all shards
  // [2, rows]: sums of exp(x - top), and sums of x - top times the target; for plain targets this
  // is x - top at the label, 0 if another shard has it. First of this shard, then summed over all
  // shards.
  sum* stats;
  sum const* factors = nullptr;  // [rows]: factors of the rows' gradients; null: 1

  /// Returns the column of the label of row `r` in this shard. Returns -1 if the label belongs to
  /// another shard or the row is ignored.
  std::int64_t label(std::int64_t r) const {
    auto const column = labels[r] - first;
    return column >= 0 && column < valid && labels[r] != targets.ignored ? column : -1;
  }

  /// Returns the target of row `r` at its label, without the share that all entries have.
  sum own_target(std::int64_t r) const {
    return targets.weights != nullptr ? targets.kept * targets.weights[labels[r]] : targets.kept;
  }

  /// Returns the sum of the targets of row `r` over all entries.
  sum all_targets(std::int64_t r) const {
    return targets.plain ? sum(1) : own_target(r) + targets.spread * targets.total;
  }

  /// Returns the weight of column `j`, times the share of a target that all entries have.
  sum spread_at(std::int64_t j) const {
    return targets.weights != nullptr ? targets.spread * targets.weights[first + j] : targets.spread;
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

/// Replaces the first n logits of a row by cap * tanh(logit / cap).
template <int W, class T, class Sum>
[[gnu::always_inline]] inline void soft_cap_row(T* row, std::int64_t n, Sum cap) {
  std::int64_t j = 0;
  if constexpr (!std::is_same_v<T, double>) {
    typename lanes<W>::real x;
    for (; j + W <= n; j += W) {
      load_lanes<W>(x, row + j);
      x /= cap;
      tanh_lanes<W>(x);
      store_lanes<W>(row + j, x * cap);
    }
  }
  for (; j < n; ++j) row[j] = static_cast<T>(cap * std::tanh(static_cast<Sum>(row[j]) / cap));
}

/// A task that applies the soft cap to rows [begin, end) of a chunk of logits and computes the
/// maximum of each row.
template <class T>
struct top_of_rows {
  logit_chunk<T> const& c;
  std::int64_t begin, end;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    using sum = sum_of<T>;
    constexpr auto lowest = -std::numeric_limits<sum>::infinity();
    for (auto r = begin; r < end; ++r) {
      if (c.soft_cap > 0) soft_cap_row<W>(c.logits + r * c.stride, c.valid, c.soft_cap);
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
      sum of_label = label >= 0 ? static_cast<sum>(row[label]) - top : sum(0);
      if (!c.targets.plain && c.labels[r] != c.targets.ignored) {
        of_label *= c.own_target(r);
        for (std::int64_t j = 0; j < c.valid; ++j) of_label += c.spread_at(j) * (static_cast<sum>(row[j]) - top);
      }
      c.stats[c.rows + r] = of_label;
    }
  }
};

/// A task that replaces the logits of rows [begin, end) by the gradient of each row's loss. It is
/// the probabilities times the sum of the targets, minus the targets, times the derivative of the
/// soft cap and the row's factor. Padding and ignored rows become zero.
template <class T>
struct gradient_of_rows {
  logit_chunk<T> const& c;
  std::int64_t begin, end;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    for (auto r = begin; r < end; ++r) {
      T* const row = c.logits + r * c.stride;
      if (c.labels[r] == c.targets.ignored) {
        std::fill_n(row, c.columns, T(0));
        continue;
      }
      auto const label = c.label(r);
      auto const lse = c.top[r] + std::log(c.stats[r]);
      bool const plain = c.targets.plain;
      auto const all = c.all_targets(r), own = plain ? sum_of<T>(1) : c.own_target(r),
                 factor = c.factors != nullptr ? c.factors[r] : sum_of<T>(1);
      // Returns the gradient at column j, without the target of the label and the soft cap.
      auto const gradient = [&](std::int64_t j) {
        auto const p = std::exp(static_cast<sum_of<T>>(row[j]) - lse);
        return plain ? p : p * all - c.spread_at(j);
      };
      auto const at_label = label >= 0 ? (gradient(label) - own) * slope(row[label]) * factor : 0;
      if constexpr (std::is_same_v<T, double>) {
        for (std::int64_t j = 0; j < c.valid; ++j) row[j] = gradient(j) * slope(row[j]) * factor;
      } else {
        typename lanes<W>::real x, bounded, spread = {};
        spread += c.targets.spread;
        std::int64_t j = 0;
        for (; j + W <= c.valid; j += W) {
          load_lanes<W>(x, row + j);
          bounded = x;
          x -= lse;
          exp_lanes<W>(x);
          if (!plain) {
            if (c.targets.weights != nullptr) {
              load_lanes<W>(spread, c.targets.weights + c.first + j);
              spread *= c.targets.spread;
            }
            x = x * all - spread;
          }
          if (c.soft_cap > 0) {
            bounded /= c.soft_cap;
            x *= 1.0f - bounded * bounded;
          }
          store_lanes<W>(row + j, x * factor);
        }
        for (; j < c.valid; ++j) row[j] = static_cast<T>(gradient(j) * slope(row[j]) * factor);
      }
      if (label >= 0) row[label] = static_cast<T>(at_label);
      std::fill(row + c.valid, row + c.columns, T(0));
    }
  }

 private:
  /// Returns the derivative of the soft cap, given its result `logit`; 1 without a soft cap.
  sum_of<T> slope(T logit) const {
    if (!(c.soft_cap > 0)) return 1;
    auto const bounded = static_cast<sum_of<T>>(logit) / c.soft_cap;
    return 1 - bounded * bounded;
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
