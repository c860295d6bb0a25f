#pragma once

#include <redco/nn/module.hpp>
#include <redco/kernel/gelu.hpp>
#include <redco/kernel/relu.hpp>
#include <redco/kernel/silu.hpp>
#include <redco/kernel/tanh.hpp>
#include <redco/layer/activation.hpp>
#include <redco/layer/exact_gelu.hpp>
#include <redco/layer/gelu.hpp>
#include <redco/layer/relu.hpp>
#include <redco/layer/scale.hpp>
#include <redco/layer/silu.hpp>
#include <redco/layer/tanh_layer.hpp>

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

template <auto Factor, class X>
struct module<layers::scale<Factor>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) : factor(static_cast<double>(b.template extent<Factor>())) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const&) const {
    return factor == 1 ? x : x.like(x.local() * factor);
  }

  double factor;
};

}  // namespace redco
