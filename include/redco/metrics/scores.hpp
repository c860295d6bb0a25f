#pragma once

#include <redco/diag/error.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>

namespace redco::metrics::detail {

/// Throws `error` with exit code 65 if `count` is 0 or differs from `wanted`. The message has the
/// name of the metric and what is counted: `counted` and `other`.
inline void check_counts(char const* metric, std::size_t count, char const* counted, std::size_t wanted,
                         char const* other) {
  if (count == 0 || count != wanted)
    throw error(exit_code::data, std::string(metric) + " of " + std::to_string(count) + " " + counted + " and " +
                                     std::to_string(wanted) + " " + other + ": give one of each for every example");
}

/// Calls f(predicted, expected) for each example and returns the number of examples. Throws `error`
/// with exit code 65 if the ranges are empty or differ in length; `metric` names the metric in the
/// message.
template <class Predicted, class Expected, class F>
std::size_t for_each_pair(char const* metric, Predicted const& predicted, Expected const& expected, F&& f) {
  auto const count = static_cast<std::size_t>(std::size(predicted));
  check_counts(metric, count, "predictions", static_cast<std::size_t>(std::size(expected)), "expected values");
  auto e = std::begin(expected);
  for (auto const& p : predicted) f(p, *e++);
  return count;
}

}  // namespace redco::metrics::detail

namespace redco::metrics {

/// Returns the fraction of predictions that equal the expected values, from 0 to 1. The ranges may
/// have elements of any types that can be compared with ==. Throws `error` with exit code 65 if the
/// ranges are empty or differ in length.
template <class Predicted, class Expected>
double accuracy(Predicted const& predicted, Expected const& expected) {
  double right = 0;
  auto const count = detail::for_each_pair("accuracy", predicted, expected,
                                           [&](auto const& p, auto const& e) { right += p == e ? 1 : 0; });
  return right / static_cast<double>(count);
}

/// A method to combine the F1 scores of all classes into one number.
enum class f1_average : std::uint8_t {
  /// Mean of the F1 scores of all classes that occur among predictions or expected labels.
  macro,
  /// One F1 score from the decisions about all classes counted together; equals the accuracy.
  micro,
  /// F1 score of only one class, the argument `positive` of f1_score().
  binary,
};

/// Returns the F1 score 2 tp / (2 tp + fp + fn) of true positives tp, false positives fp and false
/// negatives fn, from 0 to 1 (van Rijsbergen 1979). Equals scikit-learn's f1_score. The ranges hold
/// integer labels; a class that does not occur scores 0. Throws `error` with exit code 65 if the
/// ranges are empty or differ in length.
template <class Predicted, class Expected>
double f1_score(Predicted const& predicted, Expected const& expected, f1_average average, std::int64_t positive = 1) {
  struct decisions {
    double right = 0, all = 0;  ///< For one class: number of true positives tp, and 2 tp + fp + fn

    double f1() const { return all > 0 ? 2 * right / all : 0; }
  };
  std::map<std::int64_t, decisions> classes;
  decisions together;
  detail::for_each_pair("f1_score", predicted, expected, [&](auto const& p, auto const& e) {
    auto const said = static_cast<std::int64_t>(p), is = static_cast<std::int64_t>(e);
    for (decisions* const one : {&classes[said], &together}) one->all += 1, one->right += said == is ? 1 : 0;
    for (decisions* const one : {&classes[is], &together}) one->all += 1;
  });
  if (average == f1_average::binary) return classes[positive].f1();
  if (average == f1_average::micro) return together.f1();
  double sum = 0;
  for (auto const& [label, one] : classes) sum += one.f1();
  return sum / static_cast<double>(classes.size());
}

/// Returns the mean of |predicted - expected| over ranges of numbers. Throws `error` with exit code
/// 65 if the ranges are empty or differ in length.
template <class Predicted, class Expected>
double mean_absolute_error(Predicted const& predicted, Expected const& expected) {
  double sum = 0;
  auto const count = detail::for_each_pair(
      "mean_absolute_error", predicted, expected,
      [&](auto const& p, auto const& e) { sum += std::abs(static_cast<double>(p) - static_cast<double>(e)); });
  return sum / static_cast<double>(count);
}

}  // namespace redco::metrics
