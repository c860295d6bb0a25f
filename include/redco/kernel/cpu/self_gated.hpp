#pragma once

#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/kernel/cpu/elementwise.hpp>
#include <redco/kernel/cpu/lanes.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/torch.hpp>

#include <array>

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

}  // namespace redco::kernel::cpu
