#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/takes.hpp>
#include <redco/fact/recorder.hpp>

namespace redco {

/// Cuts an activation [B, T, features] into runs of tokens, one for each shard: from here on, what lies between blocks is
/// held once over all shards instead of on each of them, norms and dropout work on their own tokens, and a block's
/// all-reduce becomes a reduce-scatter behind it and an all-gather before the next (sequence parallelism, Korthikanti et al.
/// 2022). T need not divide: the last runs are padded, and no padding reaches a product or a gradient.
struct split_tokens {
  using layer_concept = leaf_tag;

  template <class X>
  using out = typename detail::takes<detail::needs::alike, X, token_split>::type;

  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    if (!w.expect_rank(3)) return;
    fact::flow const whole = w.activation;
    if (whole.id != 0) w.message(collective::all_gather, true, whole.shape);
    w.produce(whole.shape, whole.shape.rank - 2, whole.shape[-2]);
    w.backward(whole);
  }
};

}  // namespace redco
