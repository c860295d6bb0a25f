#pragma once

#include <redco/nn/detail/entering_linear.hpp>
#include <redco/nn/detail/leaving_linear.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/side_products.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/layer/linear.hpp>

#include <type_traits>

namespace redco {

template <auto In, auto Out, auto Bias, layers::cut Cut, class X>
struct module<linear<In, Out, Bias, Cut>, X> {
  using layer = linear<In, Out, Bias, Cut>;
  using result = tensor<layers::out_t<layer, X>>;

  template <class Config>
  explicit module(nn::builder<Config>& b) : weight(b.parameter("weight")) {
    if (b.template extent<Bias>()) bias = b.parameter("bias");
    sides = b.side_products({""});
  }

  template <class Context>
  std::conditional_t<shape::is_feature_split<X>, nn::pending_sum, result> operator()(tensor<X> const& x,
                                                                                     Context const& ctx) const {
    if constexpr (shape::is_feature_split<X>) {
      return nn::detail::leaving_linear(x.local(), ctx[weight], ctx[bias], sides, ctx);
    } else if constexpr (layers::is_replicated(Cut)) {
      at::Tensor const product = kernel::linear(x.local(), nn::shared_parameter<X>(ctx[weight], ctx.tp()),
                                                nn::shared_parameter<X>(ctx[bias], ctx.tp()));
      return x.like(sides.beside(product, x.local(), ctx, shape::is_token_split<X>));
    } else {
      return result(nn::detail::entering_linear(x, ctx[weight], ctx[bias], sides, ctx));
    }
  }

  /// Returns true if this layer and an activation after it can be computed as one autograd node.
  /// That is so if there is one shard, the layer has no side products, and no layer watch observes
  /// the value between.
  template <class Context>
  bool is_whole(Context const& ctx) const {
    return sides.empty() && ctx.tp().size() == 1 && ctx.pass().layers == nullptr;
  }
  /// Returns an intermediate result that only kernel::activated may read. The result is x W^T + b.
  /// If both form one autograd node (small products on a CPU), it is already the activation `next`.
  /// Requires that is_whole() returns true.
  template <class Context>
  at::Tensor before(kernel::after_linear next, tensor<X> const& x, Context const& ctx) const {
    return kernel::linear_before(next, x.local(), ctx[weight], ctx[bias]);
  }

  parameter weight, bias;
  nn::detail::side_products sides;
};

}  // namespace redco
