#pragma once

namespace redco {

/// Returns the square root of x >= 0 in a constant expression, by Newton's method. std::sqrt is not
/// constexpr everywhere.
constexpr double square_root(double x) {
  if (x <= 0) return 0;
  double guess = x > 1 ? x : 1;
  for (double next = (guess + x / guess) / 2; next < guess; next = (guess + x / guess) / 2) guess = next;
  return guess;
}

}  // namespace redco
