#pragma once

#include <redco/nn/activations.hpp>
#include <redco/nn/detail/sharded_linear.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/side_products.hpp>
#include <redco/kernel/activations.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/layer/linear.hpp>

#include <optional>
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
      return x.like(sides.added_to(product, x.local(), ctx, shape::is_token_split<X>));
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

template <auto In, auto Out, auto Bias, class X>
struct module<layers::projection<In, Out, Bias>, X> {
  using linear_module = module<layers::replicated_linear<In, Out, Bias>, X>;

  template <class Config>
  explicit module(nn::builder<Config>& b) {
    if (b.template extent<In>() != b.template extent<Out>()) linear.emplace(b);
  }

  template <class Context>
  auto operator()(tensor<X> const& x, Context const& ctx) const {
    return linear ? (*linear)(x, ctx) : x;
  }

  std::optional<linear_module> linear;
};

template <auto In, auto Out, class Activation, auto Bias, layers::cut Cut, class X>
struct module<gated<In, Out, Activation, Bias, Cut>, X> {
  using result = tensor<layers::out_t<gated<In, Out, Activation, Bias, Cut>, X>>;

  template <class Config>
  explicit module(nn::builder<Config>& b)
      : weight(b.parameters({"gate.weight", "up.weight"})), kind(b.template extent<Activation::kind>()) {
    if (b.template extent<Bias>()) bias = b.parameters({"gate.bias", "up.bias"});
    sides = b.side_products({"gate", "up"});
  }

  template <class Context>
  result operator()(tensor<X> const& x, Context const& ctx) const {
    if constexpr (layers::is_replicated(Cut)) {
      at::Tensor const both = kernel::linear(x.local(), nn::shared_parameter<X>(ctx[weight], ctx.tp()),
                                             nn::shared_parameter<X>(ctx[bias], ctx.tp()));
      return x.like(activated(sides.added_to(both, x.local(), ctx, shape::is_token_split<X>)));
    } else {
      return result(activated(nn::detail::entering_linear(x, ctx[weight], ctx[bias], sides, ctx)));
    }
  }

  /// Handle to the weight [2 Out, In] of both products: gate rows, then up rows
  parameter weight;
  parameter bias;
  nn::detail::side_products sides;
  layers::activation_kind kind;

 private:
  at::Tensor activated(at::Tensor const& both) const {
    if (kind == layers::activation_kind::silu) return kernel::swiglu(both);
    auto const parts = both.chunk(2, -1);
    return nn::detail::activate(kind, parts[0]) * parts[1];
  }
};

}  // namespace redco
