#pragma once

#include <redco/nn/context_entries.hpp>
#include <redco/nn/key_value_cache.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/token_parts.hpp>
#include <redco/kernel/embeddings.hpp>
#include <redco/kernel/parameter_uses.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/diag/error.hpp>

#include <cmath>
#include <cstdint>
#include <string>

namespace redco {

template <auto Vocabulary, auto Width, meta::fixed_string Tied, auto Padding, class X>
struct module<embedding<Vocabulary, Width, Tied, Padding>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : vocabulary(b.template extent<Vocabulary>()),
        padding(b.template extent<Padding>()),
        tp_index(b.coordinate(shape::axis::tp)) {
    if constexpr (Tied.view().empty()) {
      weight = b.parameter("weight");
    } else {
      weight = b.tied(Tied.view());
    }
  }

  template <class Context>
  tensor<shape::partial> operator()(tensor<X> const& ids, Context const& ctx) const {
    at::Tensor const& table = ctx[weight];
    return tensor<shape::partial>(kernel::lookup(table, ids.local(), tp_index * table.size(0), vocabulary, padding));
  }

  /// Handle to this shard's rows of the embedding table, [rows of this shard, Width]
  parameter weight;
  std::int64_t vocabulary, padding;
  int tp_index;
};

}  // namespace redco

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
    if (ctx.pass().cp != nullptr) return own_tokens(all, ctx.pass());
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
    bool const in_parts = ctx.pass().cp != nullptr;
    if (at::Tensor const set = nn::detail::set_positions(ctx); set.defined())
      return rows(ctx[weight], in_parts ? ctx.pass().positions : set);
    if (at::Tensor const counted = nn::detail::counted_positions(Counted{}, ids.local(), ctx); counted.defined())
      return rows(ctx[weight], counted);
    at::Tensor const& table = ctx[weight];
    nn::key_value_cache const* const cache = ctx.pass().cache;
    std::int64_t const first = cache != nullptr ? cache->length() : 0, length = ids.local().size(1),
                       end = in_parts ? ctx.pass().tokens.all : first + length;
    if (offset + end > table.size(0))
      throw error(exit_code::data, "a sequence of " + std::to_string(end) + " tokens is longer than the model's " +
                                       std::to_string(table.size(0) - offset) + " positions; cut it");
    if (in_parts) return rows(table, ctx.pass().positions);
    return kernel::per_example(table, table.narrow(0, offset + first, length), ids.local().size(0), 3);
  }

  parameter weight;
  std::int64_t offset;

 private:
  tensor<shape::replicated> rows(at::Tensor const& table, at::Tensor const& positions) const {
    return kernel::lookup(table, offset == 0 ? positions : positions + offset, 0, table.size(0));
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
    at::Tensor const set = nn::detail::set_positions(ctx),
                     rows = (set.defined() ? set : nn::detail::positions_of(ids.local() != padding)) + offset;
    at::Tensor const& table = ctx[weight];
    return kernel::lookup(table, rows, 0, table.size(0), offset - 1);
  }

  parameter weight;
  std::int64_t offset, padding;
};

template <auto Types, auto Width, class X>
struct module<layers::token_types<Types, Width>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) : weight(b.parameter("weight")) {}

  template <class Context>
  tensor<shape::replicated> operator()(tensor<X> const& ids, Context const& ctx) const {
    at::Tensor const& table = ctx[weight];
    if constexpr (Context::template has<nn::token_type_ids>) {
      at::Tensor const types = nn::detail::own_tokens(ctx.template get<nn::token_type_ids>(), ctx.pass());
      return kernel::lookup(table, types, 0, table.size(0));
    } else {
      return kernel::per_example(table, table.narrow(0, 0, 1), ids.local().size(0), 3);
    }
  }

  parameter weight;
};

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

template <auto Width, class X>
struct module<layers::timestep_embedding<Width>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) : width(b.template extent<Width>()) {}

  template <class Context>
  tensor<shape::replicated> operator()(tensor<X> const& x, Context const& ctx) const {
    if constexpr (Context::template require<nn::timesteps>()) {
      at::ScalarType const type = x.local().scalar_type(), wide = type == at::kDouble ? type : at::kFloat;
      at::Tensor const times = ctx.template get<nn::timesteps>().to(wide).unsqueeze(1);
      at::Tensor const rates =
          at::exp(at::arange(0, width, 2, times.options()) * (-std::log(10000.0) / static_cast<double>(width)));
      at::Tensor const angles = times * rates;
      return at::cat({angles.cos(), angles.sin()}, 1).to(type);
    } else {
      return {};
    }
  }

  std::int64_t width;
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

template <class X>
struct module<layers::mean_of_tokens, X> {
  template <class Config>
  explicit module(nn::builder<Config>&) {}

  template <class Context>
  tensor<shape::replicated> operator()(tensor<X> const& x, Context const& ctx) const {
    return nn::detail::unshard(x, ctx.pass()).mean(1);
  }
};

}  // namespace redco
