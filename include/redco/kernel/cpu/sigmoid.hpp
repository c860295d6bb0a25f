#pragma once

#include <redco/kernel/cpu/lanes.hpp>

#include <cmath>

namespace redco::kernel::cpu {

/// Computes the sigmoid s = 1 / (1 + exp(-z)) and its derivative d. Both are accurate to a few
/// units in the last place and stay finite for |z| > 87. d is computed as exp(-z) s^2, because the
/// subtraction in s (1 - s) would lose digits.
template <int W>
[[gnu::always_inline]] inline void sigmoid_lanes(typename lanes<W>::real& s, typename lanes<W>::real& d,
                                                 typename lanes<W>::real const& z) {
  using real = typename lanes<W>::real;
  real const bound = real{} + 87.0f;
  real e = z < -bound ? bound : -z;
  exp_lanes<W>(e);
  s = 1.0f / (1.0f + e);
  d = e * s * s;
}

inline void sigmoid_exact(double& s, double& d, double z) {
  double const e = std::exp(z < -700 ? 700 : -z);
  s = 1 / (1 + e);
  d = e * s * s;
}

}  // namespace redco::kernel::cpu
