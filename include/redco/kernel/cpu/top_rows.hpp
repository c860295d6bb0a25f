#pragma once

#include <redco/kernel/cpu/lanes.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

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

}  // namespace redco::kernel::cpu
