#pragma once

#include <redco/nn/module.hpp>
#include <redco/layer/class_token.hpp>
#include <redco/layer/first_token.hpp>

#include <cstdint>

namespace redco {

template <auto Width, class X>
struct module<class_token<Width>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) : weight(b.parameter("weight")) {}

  template <class Context>
  tensor<shape::replicated> operator()(tensor<X> const& x, Context const& ctx) const {
    at::Tensor const tokens = x.local(), first = ctx[weight];
    return at::cat({first.expand({tokens.size(0), 1, first.size(0)}), tokens}, 1);
  }

  parameter weight;
};

template <class X>
struct module<layers::first_token, X> {
  template <class Config>
  explicit module(nn::builder<Config>&) {}

  template <class Context>
  tensor<shape::replicated> operator()(tensor<X> const& x, Context const& ctx) const {
    return nn::detail::unshard(x, ctx.pass()).select(1, 0).clone();
  }
};

}  // namespace redco
