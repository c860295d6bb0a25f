#pragma once

#include <redco/diag/error.hpp>
#include <redco/layer/positions.hpp>
#include <redco/nn/context_keys.hpp>
#include <redco/nn/kernel/lookup.hpp>
#include <redco/nn/key_value_cache.hpp>
#include <redco/nn/module.hpp>

#include <cstdint>
#include <string>

namespace redco {

template <auto Context, auto Width, class X>
struct module<positions<Context, Width>, X> {
  template <class Config>
  explicit module(builder<Config>& b) : weight(b.parameter("weight")) {}

  template <class C>
  tensor<replicated> operator()(tensor<X> const& ids, C const& ctx) const {
    if constexpr (C::template has<token_positions>)
      return kernel::lookup(weight, ctx.template get<token_positions>(), 0, weight.size(0));
    key_value_cache const* const cache = ctx.pass().cache;
    std::int64_t const first = cache != nullptr ? cache->length() : 0, length = ids.local().size(1);
    if (first + length > weight.size(0))
      throw error(exit_code::data, "a sequence of " + std::to_string(first + length) +
                                       " tokens is longer than the model's " + std::to_string(weight.size(0)) +
                                       " positions; cut it");
    return weight.narrow(0, first, length);
  }

  at::Tensor weight;
};

}  // namespace redco
