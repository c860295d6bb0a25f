#pragma once

#include <redco/metrics/correlation.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <string>

namespace redco::metrics::detail {

inline void check_side(char const* metric, char const* side, std::vector<double> const& values) {
  if (values.size() < 2)
    throw error(exit_code::data, std::string(metric) + " of " + std::to_string(values.size()) +
                                     " example: a correlation needs at least 2 examples");
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      throw error(exit_code::data, std::string(metric) + ": " + side + " value " + std::to_string(i) + " of " +
                                       std::to_string(values.size()) + " (counted from 0) is " +
                                       std::to_string(values[i]) + ": give finite numbers");
}

REDCO_INLINE void check_numbers(char const* metric, std::vector<double> const& predicted,
                                std::vector<double> const& expected) {
  check_side(metric, "predicted", predicted);
  check_side(metric, "expected", expected);
}

inline bool is_constant(std::vector<double> const& values) {
  return std::all_of(values.begin(), values.end(), [&](double value) { return value == values[0]; });
}

/// Divides the differences from the mean by their Euclidean norm. The first step scales all values
/// by a power of two, so that no sum overflows. Requires two different values.
inline void standardize(std::vector<double>& values) {
  double largest = 0;
  for (double const value : values) largest = std::max(largest, std::abs(value));
  double sum = 0;
  for (double& value : values) sum += value = std::scalbn(value, -std::ilogb(largest));
  double const mean = sum / static_cast<double>(values.size());
  double squares = 0;
  for (double& value : values) {
    value -= mean;
    squares += value * value;
  }
  for (double& value : values) value /= std::sqrt(squares);
}

REDCO_INLINE std::vector<double> ranks_of(std::vector<double> const& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    double const mean = (static_cast<double>(first + 1) + static_cast<double>(last)) / 2;
    for (std::size_t i = first; i < last; ++i) ranks[order[i]] = mean;
  }
  return ranks;
}

REDCO_INLINE double matthews_of(std::span<std::int64_t const> predicted, std::span<std::int64_t const> expected) {
  struct class_counts {
    double predicted = 0, expected = 0;
  };
  std::map<std::int64_t, class_counts> classes;
  double right = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    ++classes[predicted[i]].predicted;
    ++classes[expected[i]].expected;
    right += predicted[i] == expected[i] ? 1 : 0;
  }
  auto const count = static_cast<double>(predicted.size());
  double both = right * count, of_predicted = count * count, of_expected = count * count;
  for (auto const& [label, one] : classes) {
    both -= one.predicted * one.expected;
    of_predicted -= one.predicted * one.predicted;
    of_expected -= one.expected * one.expected;
  }
  if (of_predicted == 0 || of_expected == 0) return 0;
  return both / std::sqrt(of_predicted) / std::sqrt(of_expected);
}

REDCO_INLINE double pearson_of(std::vector<double> x, std::vector<double> y) {
  if (is_constant(x) || is_constant(y)) return std::numeric_limits<double>::quiet_NaN();
  standardize(x);
  standardize(y);
  return std::clamp(std::inner_product(x.begin(), x.end(), y.begin(), 0.0), -1.0, 1.0);
}

}  // namespace redco::metrics::detail
