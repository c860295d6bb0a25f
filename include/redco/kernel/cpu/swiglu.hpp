#pragma once

#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/kernel/composed/swiglu.hpp>
#include <redco/kernel/cpu/elementwise.hpp>
#include <redco/kernel/cpu/sigmoid.hpp>
#include <redco/tensor/recorded_function.hpp>

#include <array>
#include <cstdint>

namespace redco::kernel::cpu {

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
