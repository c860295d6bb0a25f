#pragma once

#include <redco/nn/module.hpp>
#include <redco/nn/recomputed.hpp>
#include <redco/kernel/activations.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/layer/activations.hpp>

#include <span>
#include <stdexcept>

namespace redco::nn::detail {

inline at::Tensor activate(layers::activation_kind kind, at::Tensor const& x) {
  switch (kind) {
    case layers::activation_kind::gelu: return kernel::gelu(x, kernel::gelu_form::erf);
    case layers::activation_kind::gelu_tanh: return kernel::gelu(x);
    case layers::activation_kind::quick_gelu: return kernel::gelu(x, kernel::gelu_form::logistic);
    case layers::activation_kind::relu: return kernel::relu(x);
    case layers::activation_kind::silu: return kernel::silu(x);
    case layers::activation_kind::tanh: break;
  }
  return kernel::tanh(x);
}

}  // namespace redco::nn::detail

namespace redco {

template <auto Kind, class X>
struct module<layers::activation<Kind>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) : kind(b.template extent<Kind>()) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const&) const {
    return x.like(nn::detail::activate(kind, x.local()));
  }

  layers::activation_kind kind;
};

template <auto Factor, bool Rounded, class X>
struct module<layers::scale<Factor, Rounded>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) : factor(static_cast<double>(b.template extent<Factor>())) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const&) const {
    if (factor == 1) return x;
    if constexpr (Rounded) return x.like(x.local() * at::scalar_tensor(factor, x.local().scalar_type()).item());
    else return x.like(x.local() * factor);
  }

  double factor;
};

}  // namespace redco

namespace redco::nn::detail {

/// Returns function(x). Saves only `x` for backward, which calls `function` again to compute
/// gradients.
template <class Function>
at::Tensor called_again(Function const& function, at::Tensor const& x) {
  auto const run = [function](std::span<at::Tensor const> inputs) -> at::Tensor {
    at::Tensor const y = function(inputs[0]);
    if (y.sizes() != inputs[0].sizes() || y.scalar_type() != inputs[0].scalar_type())
      throw std::invalid_argument("its function gives " + tensors::describe(y) + ", no tensor like its input");
    return y;
  };
  return recomputed(run, {x}, {});
}

/// A module of the layers `elementwise` and `rowwise`. Applies the user's function to this rank's
/// part of the input.
template <auto Function, class X>
struct function_module {
  template <class Config>
  explicit function_module(builder<Config>&) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const&) const {
    return x.like(called_again(Function, x.local()));
  }
};

}  // namespace redco::nn::detail

namespace redco {

template <auto Function, int Operations, class X>
struct module<elementwise<Function, Operations>, X> : nn::detail::function_module<Function, X> {
  using nn::detail::function_module<Function, X>::function_module;
};

template <auto Function, int Operations, class X>
struct module<rowwise<Function, Operations>, X> : nn::detail::function_module<Function, X> {
  using nn::detail::function_module<Function, X>::function_module;
};

}  // namespace redco
