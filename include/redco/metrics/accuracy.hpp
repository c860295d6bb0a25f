#pragma once

#include <redco/metrics/detail/pairs.hpp>

namespace redco {

/// The share of predictions that are the expected ones, from 0 to 1. Ranges of anything that compares with ==.
/// Errors: exit code 65 where the ranges are empty or of different lengths.
template <class Predicted, class Expected>
double accuracy(Predicted const& predicted, Expected const& expected) {
  double right = 0;
  auto const count = detail::for_each_pair("accuracy", predicted, expected,
                                           [&](auto const& p, auto const& e) { right += p == e ? 1 : 0; });
  return right / static_cast<double>(count);
}

}  // namespace redco
