#pragma once

#include <redco/layer/gelu.hpp>
#include <redco/layer/relu.hpp>
#include <redco/layer/silu.hpp>
#include <redco/nn/kernel/gelu.hpp>
#include <redco/nn/kernel/relu.hpp>
#include <redco/nn/kernel/silu.hpp>
#include <redco/nn/module.hpp>

namespace redco {

namespace detail {

/// The kernel of an activation layer.
inline at::Tensor activate(gelu, at::Tensor const& x) { return kernel::gelu(x); }
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
    return tensor<X>(detail::activate(L{}, x.local()));
  }
};

}  // namespace redco
