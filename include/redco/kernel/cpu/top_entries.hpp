#pragma once

#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/cpu/linear.hpp>
#include <redco/kernel/top_entries.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace redco::kernel::cpu {

/// The k largest elements of a row in descending order, and the log of the sum of exponentials of
/// all its elements. The row is processed in pieces. Of equal elements, the earlier one comes
/// first. The caller owns the arrays `values` and `entries` of k elements; `entries` holds column
/// indices as f64.
struct top_row {
  double* values;
  double* entries;
  std::int64_t k;
  /// Maximum of the elements processed so far.
  double most = -std::numeric_limits<double>::infinity();
  /// Sum of exp(x - most) over the elements x processed so far.
  double sum = 0;
  std::int64_t size = 0;

  static bool above(double a, double b) { return a > b || (std::isnan(a) && !std::isnan(b)); }

  bool takes(double x) const { return size < k || above(x, values[k - 1]); }

  void insert(double x, double entry) {
    if (!takes(x)) return;
    std::int64_t at = size < k ? size++ : k - 1;
    for (; at > 0 && above(x, values[at - 1]); --at) values[at] = values[at - 1], entries[at] = entries[at - 1];
    values[at] = x, entries[at] = entry;
  }

  void add_sum(double other_most, double other_sum) {
    // every term is exp(-inf) = 0
    if (other_most == -std::numeric_limits<double>::infinity()) return;
    if (other_most > most) sum *= std::exp(most - other_most), most = other_most;
    sum += other_sum * std::exp(other_most - most);
  }

  double log_sum() const { return most + std::log(sum); }
};

/// A task that adds n elements `z` of a row to its top_row (k largest elements and log-sum-exp).
/// Their column indices are first, first + 1, ... .
template <class T>
struct top_row_task {
  top_row& row;
  T const* z;
  std::int64_t n;
  std::int64_t first;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    if constexpr (std::is_same_v<T, double>) {
      double const most = *std::max_element(z, z + n);
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j) sum += std::exp(z[j] - most);
      row.add_sum(most, sum);
      insert(0, n);
    } else {
      row.add_sum(most<W>(), 0);
      row.add_sum(row.most, sum<W>(static_cast<float>(row.most)));
      std::int64_t j = 0;
      for (; j + 4 * W <= n; j += 4 * W)
        if (block_is_taken<W>(z + j)) insert(j, j + 4 * W);
      insert(j, n);
    }
  }

 private:
  void insert(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t j = begin; j < end; ++j) row.insert(static_cast<double>(z[j]), static_cast<double>(first + j));
  }

  /// Returns true if at least one of the 4 W elements at `from` may belong to the k largest of the
  /// row.
  template <int W>
  [[gnu::always_inline]] bool block_is_taken(T const* from) const {
    if (row.size < row.k) return true;
    auto const least = static_cast<float>(row.values[row.k - 1]);
    typename lanes<W>::real x;
    typename lanes<W>::word any = {};
    for (int i = 0; i < 4; ++i) {
      load_lanes<W>(x, from + i * W);
      any |= (typename lanes<W>::word)((x > least) | (x != x));  // NaN counts as the largest
    }
    std::uint32_t taken = 0;
    for (int i = 0; i < W; ++i) taken |= any[i];
    return taken != 0;
  }

  template <int W>
  [[gnu::always_inline]] float most() const {
    typename lanes<W>::real x, top = typename lanes<W>::real{} - std::numeric_limits<float>::infinity();
    std::int64_t j = 0;
    for (; j + W <= n; j += W) {
      load_lanes<W>(x, z + j);
      top = top > x ? top : x;
    }
    float result = static_cast<float>(z[0]);
    for (int i = 0; i < W; ++i) result = result > top[i] ? result : top[i];
    for (; j < n; ++j) result = result > static_cast<float>(z[j]) ? result : static_cast<float>(z[j]);
    return result;
  }

  /// Returns the sum of exp(z - base) over this piece of the row. Requires that no element is
  /// larger than `base`, except NaN.
  template <int W>
  [[gnu::always_inline]] double sum(float base) const {
    if (base == -std::numeric_limits<float>::infinity()) return 0;
    typename lanes<W>::real x, total = {};
    std::int64_t j = 0;
    for (; j + W <= n; j += W) {
      load_lanes<W>(x, z + j);
      x -= base;
      exp_lanes<W>(x);
      total += x;
    }
    double result = static_cast<double>(sum_of_lanes<W>(total));
    for (; j < n; ++j) result += std::exp(static_cast<double>(z[j]) - static_cast<double>(base));
    return result;
  }
};

/// Number of vocabulary columns whose logits are in memory at once.
inline constexpr std::int64_t head_columns = 4096;

template <class T>
void take_logits(std::vector<top_row>& rows, at::Tensor const& logits, std::int64_t first) {
  std::int64_t const n = logits.size(1);
  tensors::parallel(logits.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i)
      with_lanes<T>(top_row_task<T>{rows[static_cast<std::size_t>(i)], logits.const_data_ptr<T>() + i * n, n, first});
  });
}

inline largest_logits top_entries(at::Tensor const& hidden, vocabulary_shard const& head, std::int64_t k,
                                  comm::group& ranks) {
  std::int64_t const n = hidden.size(0), width = 2 * k + 2;
  // Each row of `best` holds this rank's k largest values, their k entries, the maximum, and the
  // sum of exponentials relative to the maximum.
  at::Tensor const best = at::full({n, width}, -std::numeric_limits<double>::infinity(), at::kDouble);
  auto* const at_best = best.mutable_data_ptr<double>();
  std::vector<top_row> rows;
  for (std::int64_t i = 0; i < n; ++i) {
    double* const row = at_best + i * width;
    // larger than every entry: no value yet
    std::fill_n(row + k, k, static_cast<double>(head.vocabulary));
    rows.push_back({row, row + k, k});
  }
  for (std::int64_t at = 0; at < head.valid(); at += head_columns) {
    std::int64_t const columns = std::min(head_columns, head.valid() - at);
    at::Tensor const logits =
        head.capped(cpu::linear(hidden, head.weight.narrow(0, at, columns),
                                head.bias.defined() ? head.bias.narrow(0, at, columns) : head.bias));
    switch (logits.scalar_type()) {
      case at::kDouble: take_logits<double>(rows, logits, head.first + at); break;
      case at::kFloat: take_logits<float>(rows, logits, head.first + at); break;
      default: take_logits<at::BFloat16>(rows, logits.to(at::kBFloat16), head.first + at);
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    at_best[i * width + 2 * k] = rows[static_cast<std::size_t>(i)].most;
    at_best[i * width + 2 * k + 1] = rows[static_cast<std::size_t>(i)].sum;
  }
  at::Tensor const all = ranks.all_gather(best.unsqueeze(0), 0);  // shape [ranks, n, width]
  largest_logits const result{at::empty({n, k}, at::kDouble), at::empty({n, k}, at::kLong),
                              at::empty({n}, at::kDouble)};
  std::vector<double> entries(static_cast<std::size_t>(k));
  for (std::int64_t i = 0; i < n; ++i) {
    top_row row{result.logits.mutable_data_ptr<double>() + i * k, entries.data(), k};
    for (std::int64_t rank = 0; rank < all.size(0); ++rank) {
      double const* const from = all.const_data_ptr<double>() + (rank * n + i) * width;
      for (std::int64_t j = 0; j < k; ++j)
        if (from[k + j] < static_cast<double>(head.vocabulary)) row.insert(from[j], from[k + j]);
      row.add_sum(from[2 * k], from[2 * k + 1]);
    }
    for (std::int64_t j = 0; j < k; ++j)
      result.entries.mutable_data_ptr<std::int64_t>()[i * k + j] =
          static_cast<std::int64_t>(entries[static_cast<std::size_t>(j)]);
    result.log_sum.mutable_data_ptr<double>()[i] = row.log_sum();
  }
  return result;
}

}  // namespace redco::kernel::cpu
