#pragma once

#include <redco/nn/detail/entering_linear.hpp>
#include <redco/nn/featurewise.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/side_products.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/kernel/swiglu.hpp>
#include <redco/layer/gated.hpp>

namespace redco {

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
      return x.like(activated(sides.beside(both, x.local(), ctx, shape::is_token_split<X>)));
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
