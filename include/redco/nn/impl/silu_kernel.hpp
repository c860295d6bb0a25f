#pragma once

#include <redco/nn/kernel/silu.hpp>

#include <redco/config.hpp>
#include <redco/nn/kernel/detail/elementwise.hpp>
#include <redco/nn/kernel/detail/sigmoid.hpp>
#include <redco/tensor/detail/recorded_function.hpp>

#include <array>

namespace redco::kernel {

namespace detail {

/// y0 = x sigmoid(x); with a gradient, y0 = g (sigmoid(x) + x sigmoid'(x)).
template <bool Backward>
struct silu_op {
  template <int W>
  [[gnu::always_inline]] void operator()(typename lanes<W>::real& y0, typename lanes<W>::real&,
                                         typename lanes<W>::real const& x, typename lanes<W>::real const& g,
                                         typename lanes<W>::real const&) const {
    typename lanes<W>::real s, d;
    sigmoid_lanes<W>(s, d, x);
    if constexpr (Backward)
      y0 = g * (s + x * d);
    else
      y0 = x * s;
  }

  void exact(double& y0, double&, double x, double g, double) const {
    double s, d;
    sigmoid_exact(s, d, x);
    y0 = Backward ? g * (s + x * d) : x * s;
  }
};

struct silu_function : redco::detail::recorded_function<silu_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x) {
    ctx->save_for_backward({x});
    return elementwise<1>(silu_op<false>{}, std::array{x})[0];
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const x = ctx->get_saved_variables()[0];
    if (at::GradMode::is_enabled()) return {g[0] * silu_slope(x)};
    return {elementwise<1>(silu_op<true>{}, std::array{x, g[0]})[0]};
  }
};

}  // namespace detail

REDCO_INLINE at::Tensor silu(at::Tensor const& x) {
  return detail::computes(x) ? detail::silu_function::apply(x) : at::silu(x);
}

}  // namespace redco::kernel
