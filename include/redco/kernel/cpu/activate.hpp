#pragma once

#include <redco/kernel/activations.hpp>
#include <redco/kernel/cpu/elementwise.hpp>
#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/cpu/small_relu.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/tensor/without_dispatch.hpp>

#include <array>
#include <cmath>
#include <mutex>
#include <string>

namespace redco::kernel::cpu {

/// Computes y0 = tanh(x), in f32 as tanh_lanes does.
struct tanh_op {
  template <int W>
  [[gnu::always_inline]] void operator()(typename lanes<W>::real& y0, typename lanes<W>::real&,
                                         typename lanes<W>::real const& x, typename lanes<W>::real const&,
                                         typename lanes<W>::real const&) const {
    y0 = x;
    tanh_lanes<W>(y0);
  }
  void exact(double& y0, double&, double x, double, double) const { y0 = std::tanh(x); }
};

/// Computes the gradient y0 = g (1 - y^2) of x, given y = tanh(x) and the gradient `g` of y.
struct tanh_slope_op {
  template <int W>
  [[gnu::always_inline]] void operator()(typename lanes<W>::real& y0, typename lanes<W>::real&,
                                         typename lanes<W>::real const& g, typename lanes<W>::real const& y,
                                         typename lanes<W>::real const&) const {
    y0 = g * (1.0f - y * y);
  }
  void exact(double& y0, double&, double g, double y, double) const { y0 = g * (1 - y * y); }
};

/// Returns the gradient of x, given y = tanh(x) and the gradient `g` of y. Autograd records the
/// computation if grad mode is on.
inline at::Tensor tanh_gradient(at::Tensor const& g, at::Tensor const& y) {
  if (at::GradMode::is_enabled()) return g * (1 - y * y);
  at::Tensor const dx = tensors::empty_on_cpu(y.sizes(), y.scalar_type());
  elementwise_into(tanh_slope_op{}, std::array{dx}, std::array{g, y});
  return dx;
}

struct tanh_node final : torch::autograd::Node {
  torch::autograd::SavedVariable y;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    std::lock_guard<std::mutex> const lock(mutex_);
    at::Tensor const& g = gradients[0];
    if (!g.defined()) return {{}};
    return {tanh_gradient(g, y.unpack(shared_from_this()))};
  }
  void release_variables() override {
    std::lock_guard<std::mutex> const lock(mutex_);
    y.reset_data();
  }
  std::string name() const override { return "tanh"; }
};

/// Returns tanh(x) in f32, bf16 or f64, as one autograd node that saves the result.
inline at::Tensor tanh(at::Tensor const& x) {
  at::Tensor const y = tensors::empty_on_cpu(x.sizes(), x.scalar_type());
  elementwise_into(tanh_op{}, std::array{y}, std::array{x});
  if (!tensors::is_recorded(x)) return y;
  auto const node = tensors::recorded_node<tanh_node>(x);
  torch::autograd::set_history(y, node);
  node->y = {y, true};
  return y;
}

/// Replaces the elements of `x` by their activation, without autograd. `x` is contiguous, in f32,
/// bf16 or f64.
inline void activate(after_linear next, at::Tensor const& x) {
  if (next == after_linear::tanh) elementwise_into(tanh_op{}, std::array{x}, std::array{x});
  if (next != after_linear::relu) return;
  if (!is_small_relu(x)) return static_cast<void>(x.relu_());
  with_real(x.scalar_type(), [&]<class T>(T) {
    with_lanes<float>(rectified<T>{x.const_data_ptr<T>(), x.mutable_data_ptr<T>(), x.numel()});
  });
}

/// Returns the gradient of an activation's input, given its result `y` and the result's gradient
/// `g`. Autograd records the computation if grad mode is on.
inline at::Tensor before_activation(after_linear next, at::Tensor const& g, at::Tensor const& y) {
  if (next == after_linear::nothing) return g;
  return next == after_linear::relu ? masked_gradient(g, y) : tanh_gradient(g, y);
}

/// Backward of tanh's gradient h = g (1 - y^2). Computes from `d`, the gradient of h, the gradients
/// y0 = d (1 - y^2) of g, and y1 = -2 d g y of y.
struct tanh_curve_op {
  template <int W>
  [[gnu::always_inline]] void operator()(typename lanes<W>::real& y0, typename lanes<W>::real& y1,
                                         typename lanes<W>::real const& d, typename lanes<W>::real const& g,
                                         typename lanes<W>::real const& y) const {
    y0 = d * (1.0f - y * y);
    y1 = -2.0f * d * g * y;
  }
  void exact(double& y0, double& y1, double d, double g, double y) const {
    y0 = d * (1 - y * y);
    y1 = -2 * d * g * y;
  }
};

/// Backward of before_activation(g, y). Replaces `d`, the gradient of its result, by the gradient
/// of g, and returns the gradient of y. The latter is undefined for relu, whose derivative is
/// piecewise constant. Not recorded by autograd.
inline at::Tensor curve_activation(after_linear next, at::Tensor const& d, at::Tensor const& g, at::Tensor const& y) {
  if (next == after_linear::tanh) {
    at::Tensor const dy = tensors::empty_on_cpu(d.sizes(), d.scalar_type());
    elementwise_into(tanh_curve_op{}, std::array{d, dy}, std::array{d, g, y});
    return dy;
  }
  if (next == after_linear::relu)
    with_real(d.scalar_type(), [&]<class T>(T) {
      with_lanes<float>(masked<T>{d.const_data_ptr<T>(), y.const_data_ptr<T>(), d.mutable_data_ptr<T>(), d.numel()});
    });
  return {};
}

}  // namespace redco::kernel::cpu
