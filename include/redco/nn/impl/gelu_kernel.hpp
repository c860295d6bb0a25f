#pragma once

#include <redco/nn/kernel/gelu.hpp>

#include <redco/config.hpp>
#include <redco/nn/kernel/detail/elementwise.hpp>
#include <redco/nn/kernel/detail/sigmoid.hpp>
#include <redco/tensor/detail/recorded_function.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace redco::kernel {

namespace detail {

// gelu(x) = x sigmoid(2 k (x + c x^3)), k = sqrt(2 / pi), which is 0.5 x (1 + tanh(k (x + c x^3))). Beyond |x| = 10 the
// sigmoid is 0 or 1 in f32, so its argument is clamped there and nothing overflows.
inline constexpr double gelu_slope = 1.5957691216057308, gelu_cube = 0.044715;

template <int W>
[[gnu::always_inline]] inline void gelu_gate(typename lanes<W>::real& s, typename lanes<W>::real& slope,
                                             typename lanes<W>::real const& x) {
  using real = typename lanes<W>::real;
  real const bound = real{} + 10.0f;
  real clamped = x > bound ? bound : x;
  clamped = clamped < -bound ? -bound : clamped;
  real const square = clamped * clamped;
  real d;
  sigmoid_lanes<W>(s, d, clamped * (float(gelu_slope) + float(gelu_slope * gelu_cube) * square));
  slope = d * (float(gelu_slope) + float(3 * gelu_slope * gelu_cube) * square);
}

inline void gelu_gate_exact(double& s, double& slope, double x) {
  double const clamped = std::clamp(x, -30.0, 30.0), square = clamped * clamped;
  double d;
  sigmoid_exact(s, d, gelu_slope * clamped * (1 + gelu_cube * square));
  slope = d * gelu_slope * (1 + 3 * gelu_cube * square);
}

// Phi(x) by a rational approximation of erf on [-4, 4] (the one of Eigen and XLA, 2 units in the last place), and its
// derivative, the normal density.
template <int W>
[[gnu::always_inline]] inline void normal_gate(typename lanes<W>::real& s, typename lanes<W>::real& slope,
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

inline void normal_gate_exact(double& s, double& slope, double x) {
  s = 0.5 * std::erfc(-x * (std::numbers::sqrt2 / 2));
  slope = 0.5 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi * std::exp(-0.5 * x * x);
}

/// y0 = x gate(x); with a gradient, y0 = g (gate(x) + x gate'(x)).
template <gelu_form Form, bool Backward>
struct gelu_op {
  template <int W>
  [[gnu::always_inline]] void operator()(typename lanes<W>::real& y0, typename lanes<W>::real&,
                                         typename lanes<W>::real const& x, typename lanes<W>::real const& g,
                                         typename lanes<W>::real const&) const {
    typename lanes<W>::real s, slope;
    if constexpr (Form == gelu_form::tanh)
      gelu_gate<W>(s, slope, x);
    else
      normal_gate<W>(s, slope, x);
    if constexpr (Backward)
      y0 = g * (s + x * slope);
    else
      y0 = x * s;
  }

  void exact(double& y0, double&, double x, double g, double) const {
    double s, slope;
    if constexpr (Form == gelu_form::tanh)
      gelu_gate_exact(s, slope, x);
    else
      normal_gate_exact(s, slope, x);
    y0 = Backward ? g * (s + x * slope) : x * s;
  }
};

template <gelu_form Form>
struct gelu_function : redco::detail::recorded_function<gelu_function<Form>> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x) {
    ctx->save_for_backward({x});
    return elementwise<1>(gelu_op<Form, false>{}, std::array{x})[0];
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const x = ctx->get_saved_variables()[0];
    if (at::GradMode::is_enabled()) return {at::gelu_backward(g[0], x, Form == gelu_form::tanh ? "tanh" : "none")};
    return {elementwise<1>(gelu_op<Form, true>{}, std::array{x, g[0]})[0]};
  }
};

}  // namespace detail

REDCO_INLINE at::Tensor gelu(at::Tensor const& x, gelu_form form) {
  if (!detail::computes(x)) return at::gelu(x, form == gelu_form::tanh ? "tanh" : "none");
  if (form == gelu_form::tanh) return detail::gelu_function<gelu_form::tanh>::apply(x);
  return detail::gelu_function<gelu_form::erf>::apply(x);
}

}  // namespace redco::kernel
