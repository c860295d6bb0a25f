#pragma once

#include <redco/nn/kernel/gelu.hpp>
#include <redco/nn/kernel/relu.hpp>
#include <redco/nn/kernel/silu.hpp>
#include <redco/nn/module.hpp>
#include <redco/layer/exact_gelu.hpp>
#include <redco/layer/gelu.hpp>
#include <redco/layer/relu.hpp>
#include <redco/layer/scale.hpp>
#include <redco/layer/silu.hpp>
#include <redco/layer/tanh_layer.hpp>

namespace redco {

namespace detail {

/// The kernel of an activation layer.
inline at::Tensor activate(gelu, at::Tensor const& x) { return kernel::gelu(x); }
inline at::Tensor activate(exact_gelu, at::Tensor const& x) { return kernel::gelu(x, kernel::gelu_form::erf); }
inline at::Tensor activate(tanh_layer, at::Tensor const& x) { return at::tanh(x); }
inline at::Tensor activate(relu, at::Tensor const& x) { return kernel::relu(x); }
inline at::Tensor activate(silu, at::Tensor const& x) { return kernel::silu(x); }

template <class L>
concept activation = requires(at::Tensor const& x) {
  activate(L{}, x);
};

}  // namespace detail

template <detail::activation L, class X>
struct module<L, X> {
  template <class Config>
  explicit module(builder<Config>&) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const&) const {
    return x.like(detail::activate(L{}, x.local()));
  }
};

template <auto Factor, class X>
struct module<scale<Factor>, X> {
  template <class Config>
  explicit module(builder<Config>& b) : factor(static_cast<double>(b.template extent<Factor>())) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const&) const {
    return factor == 1 ? x : x.like(x.local() * factor);
  }

  double factor;
};

}  // namespace redco
