#pragma once

#include <redco/kernel/cpu/computes.hpp>
#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/cpu/small_product.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/tensor/without_dispatch.hpp>

#include <cstdint>
#include <mutex>
#include <string>

namespace redco::kernel::cpu {

/// A task on a range of elements: to = max(x, 0). Keeps NaN and the sign of zeros.
template <class T>
struct rectified {
  T const* x;
  T* to;
  std::int64_t n;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    if (x == to)  // one pointer: compilers do not vectorise two that may alias
      for (std::int64_t i = 0; i < n; ++i) to[i] = to[i] < 0 ? T(0) : to[i];
    else
      for (std::int64_t i = 0; i < n; ++i) to[i] = x[i] < 0 ? T(0) : x[i];
  }
};

/// A task on a range of elements, the backward of relu: to = g, but 0 where y <= 0.
template <class T>
struct masked {
  T const* g;
  T const* y;
  T* to;
  std::int64_t n;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    if (g == to)
      for (std::int64_t i = 0; i < n; ++i) to[i] = y[i] <= 0 ? T(0) : to[i];
    else
      for (std::int64_t i = 0; i < n; ++i) to[i] = y[i] <= 0 ? T(0) : g[i];
  }
};

/// Largest number of elements that one thread computes faster than several threads, which must wake
/// up first.
constexpr std::int64_t small_elements = 32768;

/// Returns true if small_relu can compute max(x, 0): x is f32 or f64, contiguous, and has at most
/// small_elements elements.
inline bool is_small_relu(at::Tensor const& x) {
  return (x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble) && x.layout() == at::kStrided &&
         x.numel() <= small_elements && small_work() > 0 && x.is_contiguous();
}

/// Returns a new tensor with the shape and dtype of `x`. Calls f(pointer to x, pointer to the new
/// tensor) to fill it.
template <class F>
at::Tensor written_like(at::Tensor const& x, F const& f) {
  at::Tensor const to = tensors::empty_on_cpu(x.sizes(), x.scalar_type());
  with_real(x.scalar_type(), [&]<class T>(T) { f(x.const_data_ptr<T>(), to.mutable_data_ptr<T>()); });
  return to;
}

at::Tensor masked_gradient(at::Tensor const& g, at::Tensor const& y);

/// The autograd node of masked_gradient, the backward of relu. It is linear in the gradient g, so
/// its own backward masks the incoming gradient in the same way.
struct masked_gradient_node final : torch::autograd::Node {
  torch::autograd::SavedVariable y;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    std::lock_guard<std::mutex> const lock(mutex_);
    if (!gradients[0].defined()) return {{}};
    return {masked_gradient(gradients[0], y.unpack())};
  }
  void release_variables() override {
    std::lock_guard<std::mutex> const lock(mutex_);
    y.reset_data();
  }
  std::string name() const override { return "masked_gradient"; }
};

/// Returns the gradient of x in y = max(x, 0), given the gradient `g` of y. Differentiable in g.
inline at::Tensor masked_gradient(at::Tensor const& g, at::Tensor const& y) {
  at::Tensor const dx = written_like(g.contiguous(), [&]<class T>(T const* from, T* to) {
    with_lanes<float>(masked<T>{from, y.const_data_ptr<T>(), to, y.numel()});
  });
  if (tensors::is_recorded(g)) {
    auto const node = tensors::recorded_node<masked_gradient_node>(g);
    node->y = {y.detach(), false};
    torch::autograd::set_history(dx, node);
  }
  return dx;
}

struct small_relu_node final : torch::autograd::Node {
  torch::autograd::SavedVariable y;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    std::lock_guard<std::mutex> const lock(mutex_);
    if (!gradients[0].defined()) return {{}};
    return {masked_gradient(gradients[0], y.unpack(shared_from_this()))};
  }
  void release_variables() override {
    std::lock_guard<std::mutex> const lock(mutex_);
    y.reset_data();
  }
  std::string name() const override { return "small_relu"; }
};

/// Returns max(x, 0), computed on the calling thread as one autograd node that saves the result.
/// Requires that is_small_relu(x) returns true.
inline at::Tensor small_relu(at::Tensor const& x) {
  at::Tensor const y = written_like(x, [&]<class T>(T const* from, T* to) {
    with_lanes<float>(rectified<T>{from, to, x.numel()});
  });
  if (!tensors::is_recorded(x)) return y;
  auto const node = tensors::recorded_node<small_relu_node>(x);
  torch::autograd::set_history(y, node);
  node->y = {y, true};
  return y;
}

}  // namespace redco::kernel::cpu
