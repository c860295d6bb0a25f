#pragma once

#include <redco/nn/context_entries.hpp>
#include <redco/nn/key_value_cache.hpp>
#include <redco/nn/module.hpp>
#include <redco/kernel/lookup.hpp>
#include <redco/layer/counted_tokens.hpp>
#include <redco/layer/positions.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>

namespace redco::nn::detail {

/// Returns the position [B, T] of each token if only the tokens marked true in `counted` [B, T]
/// count. Tokens that do not count have position -1.
inline at::Tensor positions_of(at::Tensor const& counted) {
  at::Tensor const whole = counted.to(at::kLong);
  return whole.cumsum(1) * whole - 1;
}

/// Returns the positions [B, T] of tokens `ids` by a counting rule, the type of the first argument.
/// Returns an undefined tensor if each position is the token's index.
template <class Context>
at::Tensor counted_positions(layers::every_token, at::Tensor const&, Context const&) {
  return {};
}
template <class Context>
at::Tensor counted_positions(layers::unmasked_tokens, at::Tensor const& ids, Context const& ctx) {
  if constexpr (Context::template has<key_mask>) {
    at::Tensor const all = positions_of(ctx.template get<key_mask>());
    return all.narrow(1, all.size(1) - ids.size(1), ids.size(1));
  } else {
    return {};
  }
}

}  // namespace redco::nn::detail

namespace redco {

template <auto Context, auto Width, auto Offset, class Counted, class X>
struct module<positions<Context, Width, Offset, Counted>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) : weight(b.parameter("weight")), offset(b.template extent<Offset>()) {}

  template <class C>
  tensor<shape::replicated> operator()(tensor<X> const& ids, C const& ctx) const {
    if constexpr (C::template has<nn::token_positions>)
      return rows(ctx[weight], ctx.template get<nn::token_positions>());
    if (at::Tensor const counted = nn::detail::counted_positions(Counted{}, ids.local(), ctx); counted.defined())
      return rows(ctx[weight], counted);
    at::Tensor const& table = ctx[weight];
    nn::key_value_cache const* const cache = ctx.pass().cache;
    std::int64_t const first = cache != nullptr ? cache->length() : 0, length = ids.local().size(1);
    if (offset + first + length > table.size(0))
      throw error(exit_code::data, "a sequence of " + std::to_string(first + length) +
                                       " tokens is longer than the model's " + std::to_string(table.size(0) - offset) +
                                       " positions; cut it");
    return table.narrow(0, offset + first, length);
  }

  parameter weight;
  std::int64_t offset;

 private:
  tensor<shape::replicated> rows(at::Tensor const& table, at::Tensor const& positions) const {
    return kernel::lookup(table, positions + offset, 0, table.size(0));
  }
};

/// A module of learned positions that count only tokens other than padding. A padding token reads
/// row Offset - 1 of the table; this row gets no gradient.
template <auto Context, auto Width, auto Offset, auto Padding, class X>
struct module<positions<Context, Width, Offset, layers::tokens_other_than<Padding>>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : weight(b.parameter("weight")), offset(b.template extent<Offset>()), padding(b.template extent<Padding>()) {}

  template <class C>
  tensor<shape::replicated> operator()(tensor<X> const& ids, C const& ctx) const {
    at::Tensor rows;
    if constexpr (C::template has<nn::token_positions>) {
      rows = ctx.template get<nn::token_positions>() + offset;
    } else {
      rows = nn::detail::positions_of(ids.local() != padding) + offset;
    }
    at::Tensor const& table = ctx[weight];
    return kernel::lookup(table, rows, 0, table.size(0), offset - 1);
  }

  parameter weight;
  std::int64_t offset, padding;
};

}  // namespace redco
