#pragma once

#include <redco/nn/kernel/silu.hpp>

#include <redco/nn/kernel/detail/elementwise.hpp>
#include <redco/nn/kernel/detail/sigmoid.hpp>
#include <redco/tensor/detail/recorded_function.hpp>
#include <redco/config.hpp>

#include <array>

namespace redco::kernel {

namespace detail {

/// y0 = x sigmoid(k x); with a gradient, y0 = g (sigmoid(k x) + k x sigmoid'(k x)).
template <bool Backward>
struct silu_op {
  double k;

  template <int W>
  [[gnu::always_inline]] void operator()(typename lanes<W>::real& y0, typename lanes<W>::real&,
                                         typename lanes<W>::real const& x, typename lanes<W>::real const& g,
                                         typename lanes<W>::real const&) const {
    typename lanes<W>::real s, d;
    sigmoid_lanes<W>(s, d, x * float(k));
    if constexpr (Backward)
      y0 = g * (s + x * (d * float(k)));
    else
      y0 = x * s;
  }

  void exact(double& y0, double&, double x, double g, double) const {
    double s, d;
    sigmoid_exact(s, d, k * x);
    y0 = Backward ? g * (s + k * x * d) : x * s;
  }
};

struct silu_function : redco::detail::recorded_function<silu_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x, double k) {
    ctx->save_for_backward({x});
    ctx->saved_data["k"] = k;
    return elementwise<1>(silu_op<false>{k}, std::array{x})[0];
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const x = ctx->get_saved_variables()[0];
    double const k = ctx->saved_data["k"].toDouble();
    if (at::GradMode::is_enabled()) return {g[0] * silu_slope(x, k), {}};
    return {elementwise<1>(silu_op<true>{k}, std::array{x, g[0]})[0], {}};
  }
};

}  // namespace detail

REDCO_INLINE at::Tensor silu(at::Tensor const& x, double k) {
  if (detail::computes(x)) return detail::silu_function::apply(x, k);
  return k == 1 ? at::silu(x) : x * at::sigmoid(x * k);
}

}  // namespace redco::kernel
