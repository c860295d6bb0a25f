#pragma once

#include <redco/nn/in_layer.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/stage_link.hpp>
#include <redco/kernel/activations.hpp>
#include <redco/layer/wrappers.hpp>

#include <utility>

namespace redco {

template <meta::fixed_string Name, class L, class X>
struct module<named<Name, L>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) : inner(b.inside(Name.view(), [&] { return module<L, X>(b); })) {}

  template <class Context>
  auto operator()(tensor<X> const& x, Context const& ctx) const {
    return nn::detail::in_layer(Name.view(), x, ctx.pass(), [&] { return inner(x, ctx); });
  }

  /// Returns true if the wrapped linear layer and an activation after it can be computed as one
  /// autograd node. Exists only if the wrapped module has is_whole(), as linear layers do.
  template <class Context>
  bool is_whole(Context const& ctx) const requires requires(module<L, X> const& m) {
    m.is_whole(ctx);
  }
  { return inner.is_whole(ctx); }
  template <class Context>
  at::Tensor before(kernel::after_linear next, tensor<X> const& x, Context const& ctx) const {
    return nn::detail::in_layer(Name.view(), x.local(), [&] { return inner.before(next, x, ctx); });
  }

  module<L, X> inner;
};

template <auto Deviation, class L, class X>
struct module<layers::initialised<Deviation, L>, X> : module<L, X> {
  using module<L, X>::module;
};

template <class X>
struct module<layers::enter_layer, X> {
  template <class Config>
  explicit module(nn::builder<Config>&) {}

  template <class Context>
  tensor<shape::entered> operator()(tensor<X> const& x, Context const& ctx) const {
    return comm::enter(x, ctx.tp());
  }
};

template <class X>
struct module<layers::split_tokens, X> {
  template <class Config>
  explicit module(nn::builder<Config>&) {}

  template <class Context>
  tensor<shape::token_split> operator()(tensor<X> const& x, Context const& ctx) const {
    return comm::scatter_tokens(x, ctx.tp());
  }
};

template <class L, class X>
struct module<layers::with_split_tokens<L>, X> {
  using split = typename layers::with_split_tokens<L>::template split<X>;

  template <class Config>
  explicit module(nn::builder<Config>& b) : inner(b) {}

  template <class Context>
  auto operator()(tensor<X> x, Context const& ctx) const {
    if constexpr (shape::is_token_split<X>) {
      return inner(std::move(x), ctx);
    } else {
      if (nn::detail::is_elsewhere(ctx.pass())) return inner(tensor<split>(), ctx);
      auto mine = comm::scatter_tokens(x, ctx.tp());
      x = {};  // Frees the input before the blocks run, unless backward needs it.
      return inner(std::move(mine), ctx);
    }
  }

  module<L, split> inner;
};

template <class X>
struct module<flatten, X> {
  template <class Config>
  explicit module(nn::builder<Config>&) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const&) const {
    return tensor<X>(x.local().flatten(1));
  }
};

}  // namespace redco
