#pragma once

#include <redco/metrics/scores.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::metrics::detail {

double matthews_of(std::span<std::int64_t const> predicted, std::span<std::int64_t const> expected);

/// Throws `error` with exit code 65 if there are fewer than two numbers or one is not finite.
void check_numbers(char const* metric, std::vector<double> const& predicted, std::vector<double> const& expected);

/// Computes the correlation of numbers that check_numbers() accepts.
double pearson_of(std::vector<double> x, std::vector<double> y);

/// Returns the rank of each value, from 1. Equal values have the mean of their ranks.
std::vector<double> ranks_of(std::vector<double> const& values);

/// Two lists of equal length: predictions and expected values.
template <class T>
struct pairs {
  std::vector<T> predicted, expected;
};

template <class T, class Predicted, class Expected>
pairs<T> pairs_of(char const* metric, Predicted const& predicted, Expected const& expected) {
  pairs<T> all;
  for_each_pair(metric, predicted, expected, [&](auto const& p, auto const& e) {
    if constexpr (std::integral<T>)
      static_assert(std::integral<std::decay_t<decltype(p)>> && std::integral<std::decay_t<decltype(e)>>,
                    "labels are integers");
    all.predicted.push_back(static_cast<T>(p));
    all.expected.push_back(static_cast<T>(e));
  });
  return all;
}

}  // namespace redco::metrics::detail

namespace redco::metrics {

/// Returns the Matthews correlation (c s - sum p_k t_k) / sqrt((s^2 - sum p_k^2) (s^2 - sum t_k^2))
/// of integer labels, from -1 to 1 (Gorodkin 2004). c of s predictions are right; class k is
/// predicted p_k times and expected t_k times. Equals scikit-learn's matthews_corrcoef: 0 if all
/// predictions, or all expected labels, are of one class. Throws `error` with exit code 65 if the
/// ranges are empty or differ in length.
template <class Predicted, class Expected>
double matthews_correlation(Predicted const& predicted, Expected const& expected) {
  auto const all = detail::pairs_of<std::int64_t>("matthews_correlation", predicted, expected);
  return detail::matthews_of(all.predicted, all.expected);
}

/// Returns Pearson's correlation sum x_i y_i / sqrt(sum x_i^2 sum y_i^2) of two ranges of numbers,
/// from -1 to 1 (Pearson 1895). x_i and y_i are differences from the mean of the range. Equals
/// scipy's pearsonr: NaN if all numbers of a range are equal. Throws `error` with exit code 65 if
/// the ranges differ in length, have fewer than two numbers, or contain NaN or infinity.
template <class Predicted, class Expected>
double pearson(Predicted const& predicted, Expected const& expected) {
  auto all = detail::pairs_of<double>("pearson", predicted, expected);
  detail::check_numbers("pearson", all.predicted, all.expected);
  return detail::pearson_of(std::move(all.predicted), std::move(all.expected));
}

/// Returns Spearman's correlation of two ranges of numbers, from -1 to 1: Pearson's correlation of
/// ranks (Spearman 1904). Equal numbers have the mean of their ranks. Equals scipy's spearmanr: NaN
/// if all numbers of a range are equal. Throws `error` with exit code 65 if the ranges differ in
/// length, have fewer than two numbers, or contain NaN or infinity.
template <class Predicted, class Expected>
double spearman(Predicted const& predicted, Expected const& expected) {
  auto const all = detail::pairs_of<double>("spearman", predicted, expected);
  detail::check_numbers("spearman", all.predicted, all.expected);
  return detail::pearson_of(detail::ranks_of(all.predicted), detail::ranks_of(all.expected));
}

}  // namespace redco::metrics

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/metrics/correlation.inl.hpp>
#endif
