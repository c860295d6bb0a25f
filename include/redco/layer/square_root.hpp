#pragma once

namespace redco::layers {

/// Returns the square root of x >= 0 by Newton's method. Used in constant expressions, because
/// std::sqrt is not constexpr with every compiler.
constexpr double square_root(double x) {
  if (x <= 0) return 0;
  double guess = x > 1 ? x : 1;
  for (double next = (guess + x / guess) / 2; next < guess; next = (guess + x / guess) / 2) guess = next;
  return guess;
}

}  // namespace redco::layers
