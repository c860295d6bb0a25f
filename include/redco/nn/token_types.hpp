#pragma once

#include <redco/nn/context_entries.hpp>
#include <redco/nn/module.hpp>
#include <redco/kernel/lookup.hpp>
#include <redco/layer/token_types.hpp>

namespace redco {

template <auto Types, auto Width, class X>
struct module<layers::token_types<Types, Width>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) : weight(b.parameter("weight")) {}

  template <class Context>
  tensor<shape::replicated> operator()(tensor<X> const&, Context const& ctx) const {
    if constexpr (Context::template has<nn::token_type_ids>) {
      return kernel::lookup(ctx[weight], ctx.template get<nn::token_type_ids>(), 0, ctx[weight].size(0));
    } else {
      return ctx[weight].narrow(0, 0, 1);
    }
  }

  parameter weight;
};

}  // namespace redco
