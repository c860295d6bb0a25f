#pragma once

#include <redco/layer/residual.hpp>
#include <redco/nn/module.hpp>

namespace redco {

template <class Branch, class X>
struct module<residual<Branch>, X> {
  template <class Config>
  explicit module(builder<Config>& b) : branch(b) {}

  template <class Context>
  tensor<settled_t<X>> operator()(tensor<X> const& x, Context const& ctx) const {
    return tensor<settled_t<X>>(x.local() + detail::settle(branch(x, ctx), ctx.mp()).local());
  }

  module<typename residual<Branch>::body, X> branch;
};

}  // namespace redco
