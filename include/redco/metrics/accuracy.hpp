#pragma once

#include <redco/metrics/detail/pairs.hpp>

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

}  // namespace redco::metrics
