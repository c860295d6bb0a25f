#pragma once

#include <redco/nn/context_entries.hpp>
#include <redco/nn/key_value_cache.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/stage_link.hpp>
#include <redco/kernel/embeddings.hpp>
#include <redco/layer/with_distance_bias.hpp>

#include <cstddef>
#include <cstdint>

namespace redco::nn::detail {

/// Returns the index of the bucket for each distance (key position minus query position) from
/// -(length - 1) to length - 1, as int64 [2 length - 1].
at::Tensor distance_buckets(std::int64_t length, std::int64_t buckets, std::int64_t farthest, bool both_ways);

}  // namespace redco::nn::detail

namespace redco {

template <layers::attention_kind Kind, auto Heads, auto Buckets, auto Farthest, class Body, class X>
struct module<layers::with_distance_bias<Kind, Heads, Buckets, Farthest, Body>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : table(b.parameter("relative_attention_bias.weight")),
        buckets(b.template extent<Buckets>()),
        farthest(b.template extent<Farthest>()),
        cache_slot(b.cache_slot()),
        body_begin(b.blocks_before()),
        body(b),
        body_end(b.blocks_before()) {}

  template <class Context>
  auto operator()(tensor<X> const& x, Context const& ctx) const {
    nn::stage_link const* const stage = ctx.pass().stage;
    if (stage != nullptr && !stage->runs_any(body_begin, body_end))
      return body(x, ctx.with(nn::distance_bias{at::Tensor()}));
    nn::key_value_cache* const cache = ctx.pass().cache;
    at::Tensor const bias = cache == nullptr
                                ? bias_of(ctx[table], tokens_of(x, ctx))
                                : cache->once(cache_slot, [&] { return bias_of(ctx[table], cache->capacity()); });
    return body(x, ctx.with(nn::distance_bias{bias}));
  }

  /// Handle to this rank's part of the bias table, [buckets, heads of this rank]
  parameter table;
  std::int64_t buckets, farthest;
  std::size_t cache_slot;
  /// Range [body_begin, body_end) of the body's blocks, counted over all outermost `repeat`s
  std::int64_t body_begin;
  module<Body, X> body;
  std::int64_t body_end;

 private:
  /// Returns the bias of each head for each distance (key position minus query position) from
  /// -(length - 1) to length - 1, as [heads of this rank, 2 length - 1].
  at::Tensor bias_of(at::Tensor const& rows, std::int64_t length) const {
    at::Tensor const indices =
        nn::detail::distance_buckets(length, buckets, farthest, Kind == layers::attention_kind::full).to(rows.device());
    return kernel::lookup(rows, indices.unsqueeze(0), 0, buckets).squeeze(0).t().contiguous();
  }

  template <class Context>
  static std::int64_t tokens_of(tensor<X> const& x, Context const& ctx) {
    if (nn::detail::is_elsewhere(ctx.pass())) return ctx.pass().stage->received().tokens;
    if constexpr (shape::is_token_split<X>) {
      return x.tokens();
    } else {
      return x.local().size(1);
    }
  }
};

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/with_distance_bias.inl.hpp>
#endif
