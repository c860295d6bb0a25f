#pragma once

#include <redco/kernel/activations.hpp>
#include <redco/kernel/composed/activations.hpp>
#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/kernel/cpu/elementwise.hpp>
#include <redco/kernel/cpu/lanes.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace redco::kernel::cpu {

/// The elementwise operation x gate(x), or its gradient g (gate(x) + x gate'(x)) if Backward. The
/// functions of `Gate` compute gate(x) and its derivative: `lanes_of<W>` for vectors, `exact` for
/// single elements.
template <class Gate, bool Backward>
struct self_gated_op {
  template <int W>
  [[gnu::always_inline]] void operator()(typename lanes<W>::real& y0, typename lanes<W>::real&,
                                         typename lanes<W>::real const& x, typename lanes<W>::real const& g,
                                         typename lanes<W>::real const&) const {
    typename lanes<W>::real gate, slope;
    Gate::template lanes_of<W>(gate, slope, x);
    if constexpr (Backward) y0 = g * (gate + x * slope);
    else y0 = x * gate;
  }

  void exact(double& y0, double&, double x, double g, double) const {
    double gate, slope;
    Gate::exact(gate, slope, x);
    y0 = Backward ? g * (gate + x * slope) : x * gate;
  }
};

/// The differentiable function x gate(x), such as gelu and silu. Autograd saves x.
/// `Gate::reference(x)` computes the function with differentiable operators, for derivatives of
/// higher order.
template <class Gate>
struct self_gated_function : tensors::recorded_function<self_gated_function<Gate>> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x) {
    ctx->save_for_backward({x});
    return elementwise<1>(self_gated_op<Gate, false>{}, std::array{x})[0];
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const x = ctx->get_saved_variables()[0];
    if (at::GradMode::is_enabled())
      return composed::gradients_of([](auto const& in) { return Gate::reference(in[0]); }, {x}, g[0]);
    return {elementwise<1>(self_gated_op<Gate, true>{}, std::array{x, g[0]})[0]};
  }
};

struct silu_gate {
  template <int W>
  [[gnu::always_inline]] static void lanes_of(typename lanes<W>::real& s, typename lanes<W>::real& slope,
                                              typename lanes<W>::real const& x) {
    sigmoid_lanes<W>(s, slope, x);
  }
  static void exact(double& s, double& slope, double x) { sigmoid_exact(s, slope, x); }
  static at::Tensor reference(at::Tensor const& x) { return at::silu(x); }
};

inline at::Tensor silu(at::Tensor const& x) { return self_gated_function<silu_gate>::apply(x); }

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

struct swiglu_op {
  template <int W>
  [[gnu::always_inline]] void operator()(typename lanes<W>::real& y0, typename lanes<W>::real&,
                                         typename lanes<W>::real const& gate, typename lanes<W>::real const& up,
                                         typename lanes<W>::real const&) const {
    typename lanes<W>::real s, d;
    sigmoid_lanes<W>(s, d, gate);
    y0 = gate * s * up;
  }

  void exact(double& y0, double&, double gate, double up, double) const {
    double s, d;
    sigmoid_exact(s, d, gate);
    y0 = gate * s * up;
  }
};

/// The gradients of swiglu for single elements. y0 is the gradient of `gate`, y1 the gradient of
/// `up`, and g the gradient of the result.
struct swiglu_backward_op {
  template <int W>
  [[gnu::always_inline]] void operator()(typename lanes<W>::real& y0, typename lanes<W>::real& y1,
                                         typename lanes<W>::real const& gate, typename lanes<W>::real const& up,
                                         typename lanes<W>::real const& g) const {
    typename lanes<W>::real s, d;
    sigmoid_lanes<W>(s, d, gate);
    y0 = g * up * (s + gate * d);
    y1 = g * (gate * s);
  }

  void exact(double& y0, double& y1, double gate, double up, double g) const {
    double s, d;
    sigmoid_exact(s, d, gate);
    y0 = g * up * (s + gate * d);
    y1 = g * (gate * s);
  }
};

/// Returns the first and the second half of `both` along the last dimension, as views.
inline std::array<at::Tensor, 2> halves(at::Tensor const& both) {
  std::int64_t const n = both.size(-1) / 2;
  return {both.narrow(-1, 0, n), both.narrow(-1, n, n)};
}

struct swiglu_function : tensors::recorded_function<swiglu_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& both) {
    ctx->save_for_backward({both});
    return elementwise<1>(swiglu_op{}, halves(both))[0];
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const both = ctx->get_saved_variables()[0];
    auto const [gate, up] = halves(both);
    if (at::GradMode::is_enabled())
      return composed::gradients_of([](auto const& in) { return composed::swiglu(in[0]); }, {both}, g[0]);
    auto const gradient = at::empty_like(both, at::MemoryFormat::Contiguous);
    elementwise_into(swiglu_backward_op{}, halves(gradient), std::array{gate, up, g[0]});
    return {gradient};
  }
};

inline at::Tensor swiglu(at::Tensor const& both) { return swiglu_function::apply(both); }

}  // namespace redco::kernel::cpu
