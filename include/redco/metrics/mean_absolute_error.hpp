#pragma once

#include <redco/metrics/detail/pairs.hpp>

#include <cmath>

namespace redco::metrics {

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
