#pragma once

#include <redco/diag/error.hpp>
#include <redco/nn/kernel/detail/elementwise.hpp>
#include <redco/nn/kernel/detail/sigmoid.hpp>
#include <redco/tensor/detail/recorded_function.hpp>
#include <redco/tensor/torch.hpp>

#include <array>

namespace redco::kernel {

namespace detail {

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

/// The gradients of gate (y0) and up (y1).
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

struct swiglu_function : redco::detail::recorded_function<swiglu_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& gate, at::Tensor const& up) {
    ctx->save_for_backward({gate, up});
    return elementwise<1>(swiglu_op{}, std::array{gate, up})[0];
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const saved = ctx->get_saved_variables();
    auto const &gate = saved[0], &up = saved[1];
    if (at::GradMode::is_enabled()) return {g[0] * up * silu_slope(gate), g[0] * at::silu(gate)};
    auto const grads = elementwise<2>(swiglu_backward_op{}, std::array{gate, up, g[0]});
    return {grads[0], grads[1]};
  }
};

}  // namespace detail

/// silu(gate) * up in one pass: the gated linear unit of Llama. Requires one shape and one dtype (else an error, exit
/// 70); halves of one tensor (`chunk(2, -1)`) are read in place. Differentiable at any order. Autograd saves gate and
/// up.
inline at::Tensor swiglu(at::Tensor const& gate, at::Tensor const& up) {
  if (gate.sizes() != up.sizes() || gate.scalar_type() != up.scalar_type())
    throw error(exit_code::internal,
                "swiglu: gate and up must have one shape and one dtype: split one projection in two equal halves");
  return detail::computes(gate) ? detail::swiglu_function::apply(gate, up) : at::silu(gate) * up;
}

}  // namespace redco::kernel
