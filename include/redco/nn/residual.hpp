#pragma once

#include <redco/nn/module.hpp>
#include <redco/layer/residual.hpp>

#include <type_traits>

namespace redco {

template <class Branch, class X>
struct module<residual<Branch>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) : branch(b) {}

  template <class Context>
  tensor<layers::finished_t<X>> operator()(tensor<X> const& x, Context const& ctx) const {
    auto const y = branch(x, ctx);
    constexpr bool pending = std::is_same_v<layers::out_t<typename residual<Branch>::body, X>, shape::partial>;
    if constexpr (pending && shape::is_token_split<X>) {
      return x.like(nn::detail::finish<X>(y, ctx.pass()).local() + x.local());
    } else if constexpr (pending) {
      return nn::detail::finish(y.with_addend(x.local()), ctx.pass());
    } else {
      return x.like(x.local() + y.local());
    }
  }

  module<typename residual<Branch>::body, X> branch;
};

}  // namespace redco
