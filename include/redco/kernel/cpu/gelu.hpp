#pragma once

#include <redco/kernel/composed/gelu.hpp>
#include <redco/kernel/cpu/self_gated.hpp>
#include <redco/kernel/cpu/sigmoid.hpp>
#include <redco/kernel/gelu.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace redco::kernel::cpu {

/// The gate of gelu in its tanh form: gelu(x) = x sigmoid(2 k (x + c x^3)), where k = sqrt(2 / pi)
/// and c = 0.044715. This equals 0.5 x (1 + tanh(k (x + c x^3))). For |x| > 10 the f32 sigmoid is 1
/// or below 2e-38, so x is clamped there to prevent overflow.
struct tanh_gate {
  static constexpr double steep = 1.5957691216057308, cube = 0.044715;

  template <int W>
  [[gnu::always_inline]] static void lanes_of(typename lanes<W>::real& s, typename lanes<W>::real& slope,
                                              typename lanes<W>::real const& x) {
    using real = typename lanes<W>::real;
    real const bound = real{} + 10.0f;
    real clamped = x > bound ? bound : x;
    clamped = clamped < -bound ? -bound : clamped;
    real const square = clamped * clamped;
    real d;
    sigmoid_lanes<W>(s, d, clamped * (float(steep) + float(steep * cube) * square));
    slope = d * (float(steep) + float(3 * steep * cube) * square);
  }

  static void exact(double& s, double& slope, double x) {
    double const clamped = std::clamp(x, -30.0, 30.0), square = clamped * clamped;
    double d;
    sigmoid_exact(s, d, steep * clamped * (1 + cube * square));
    slope = d * steep * (1 + 3 * cube * square);
  }

  static at::Tensor reference(at::Tensor const& x) { return composed::gelu(x, gelu_form::tanh); }
};

/// The gate of gelu in its exact form: the normal distribution function Phi(x) and its derivative.
/// In f32, erf is the rational approximation on [-4, 4] that Eigen and XLA use. Its error is 2
/// units in the last place.
struct normal_gate {
  template <int W>
  [[gnu::always_inline]] static void lanes_of(typename lanes<W>::real& s, typename lanes<W>::real& slope,
                                              typename lanes<W>::real const& x) {
    using real = typename lanes<W>::real;
    real const bound = real{} + 4.0f;
    real z = x * float(std::numbers::sqrt2 / 2);
    slope = z * z;
    z = z > bound ? bound : z;
    z = z < -bound ? -bound : z;
    real const q = z * z;
    real p = q * -2.72614225801306e-10f + 2.77068142495902e-08f;
    p = p * q + -2.10102402082508e-06f;
    p = p * q + -5.69250639462346e-05f;
    p = p * q + -7.34990630326855e-04f;
    p = p * q + -2.95459980854025e-03f;
    p = p * q + -1.60960333262415e-02f;
    real r = q * -1.45660718464996e-05f + -2.13374055278905e-04f;
    r = r * q + -1.68282697438203e-03f;
    r = r * q + -7.37332916720468e-03f;
    r = r * q + -1.42647390514189e-02f;
    s = 0.5f + 0.5f * (z * p / r);
    slope = -slope;
    exp_lanes<W>(slope);
    slope = slope * float(0.5 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
  }

  static void exact(double& s, double& slope, double x) {
    s = 0.5 * std::erfc(-x * (std::numbers::sqrt2 / 2));
    slope = 0.5 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi * std::exp(-0.5 * x * x);
  }

  static at::Tensor reference(at::Tensor const& x) { return composed::gelu(x, gelu_form::erf); }
};

struct logistic_gate {
  static constexpr double k = 1.702;

  template <int W>
  [[gnu::always_inline]] static void lanes_of(typename lanes<W>::real& s, typename lanes<W>::real& slope,
                                              typename lanes<W>::real const& x) {
    sigmoid_lanes<W>(s, slope, x * float(k));
    slope = slope * float(k);
  }

  static void exact(double& s, double& slope, double x) {
    sigmoid_exact(s, slope, k * x);
    slope *= k;
  }

  static at::Tensor reference(at::Tensor const& x) { return composed::gelu(x, gelu_form::logistic); }
};

inline at::Tensor gelu(at::Tensor const& x, gelu_form form) {
  switch (form) {
    case gelu_form::tanh: return self_gated_function<tanh_gate>::apply(x);
    case gelu_form::logistic: return self_gated_function<logistic_gate>::apply(x);
    case gelu_form::erf: break;
  }
  return self_gated_function<normal_gate>::apply(x);
}

}  // namespace redco::kernel::cpu
