#pragma once

#include <redco/diag/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace redco::generation::detail {

/// Returns the largest of a row's logits, or NaN if one of them is NaN.
inline double largest_or_nan(std::span<double const> logits) {
  double top = -std::numeric_limits<double>::infinity();
  for (double const x : logits) {
    if (std::isnan(x)) return x;
    top = std::max(top, x);
  }
  return top;
}

/// Throws `error` with exit code 79 if the largest logit of a row is not finite. For the message:
/// `prompt` is the row's global index, `step` the index of its new token, and `position` the
/// token's position in the row, all from 0.
inline void check_finite(double largest, std::int64_t prompt, std::int64_t step, std::int64_t position) {
  if (std::isfinite(largest)) return;
  throw error(exit_code::not_finite, "new token " + std::to_string(step + 1) + " of prompt " +
                                         std::to_string(prompt + 1) + " (position " + std::to_string(position) +
                                         "): the logits are NaN, +inf or all -inf: check the weights and the prompt");
}

}  // namespace redco::generation::detail
