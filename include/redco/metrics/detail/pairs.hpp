#pragma once

#include <redco/diag/error.hpp>

#include <cstddef>
#include <iterator>
#include <string>

namespace redco::metrics::detail {

/// Calls f(predicted, expected) for each example and returns the number of examples. Throws `error`
/// with exit code 65 if the ranges are empty or differ in length; `metric` names the metric in the
/// message.
template <class Predicted, class Expected, class F>
std::size_t for_each_pair(char const* metric, Predicted const& predicted, Expected const& expected, F&& f) {
  auto const count = static_cast<std::size_t>(std::size(predicted)),
             wanted = static_cast<std::size_t>(std::size(expected));
  if (count == 0 || count != wanted)
    throw error(exit_code::data, std::string(metric) + " of " + std::to_string(count) + " predictions and " +
                                     std::to_string(wanted) + " expected values: give one of each for every example");
  auto e = std::begin(expected);
  for (auto const& p : predicted) f(p, *e++);
  return count;
}

}  // namespace redco::metrics::detail
