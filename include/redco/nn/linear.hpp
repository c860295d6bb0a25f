#pragma once

#include <redco/nn/module.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/layer/linear.hpp>

namespace redco {

template <auto In, auto Out, auto Bias, cut Cut, class X>
struct module<linear<In, Out, Bias, Cut>, X> {
  using layer = linear<In, Out, Bias, Cut>;
  using result = tensor<out_t<layer, X>>;

  template <class Config>
  explicit module(builder<Config>& b) : weight(b.parameter("weight")) {
    if (b.template extent<Bias>()) bias = b.parameter("bias");
  }

  template <class Context>
  result operator()(tensor<X> const& x, Context const& ctx) const {
    if constexpr (is_feature_split<X>) {
      if (ctx.tp().size() == 1) return result(kernel::linear(x.local(), ctx[weight], ctx[bias]));
      at::Tensor const product = kernel::linear(x.local(), ctx[weight]);
      return bias ? result(product, {ctx[bias]}) : result(product);
    } else if constexpr (is_replicated(Cut)) {
      return x.like(kernel::linear(x.local(), detail::shared_parameter<X>(ctx[weight], ctx.tp()),
                                   detail::shared_parameter<X>(ctx[bias], ctx.tp())));
    } else {
      return result(kernel::linear(detail::entering(x, ctx.tp()).local(), ctx[weight], ctx[bias]));
    }
  }

  parameter weight, bias;
};

}  // namespace redco
