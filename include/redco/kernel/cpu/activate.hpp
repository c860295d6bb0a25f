#pragma once

#include <redco/kernel/after_linear.hpp>
#include <redco/kernel/cpu/elementwise.hpp>
#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/cpu/small_relu.hpp>
#include <redco/kernel/cpu/tanh.hpp>
#include <redco/tensor/torch.hpp>

#include <array>

namespace redco::kernel::cpu {

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
    at::Tensor const dy = tensors::empty_on_host(d.sizes(), d.scalar_type());
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
