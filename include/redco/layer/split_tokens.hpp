#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/takes.hpp>
#include <redco/fact/recorder.hpp>

namespace redco::layers {

/// A layer that splits an activation [B, T, features] by tokens over the ranks (sequence
/// parallelism, Korthikanti et al. 2022). After this layer, norms and dropout work on each rank's
/// own tokens. The all-reduce of a block becomes a reduce-scatter after the block and an all-gather
/// before the next. T need not be a multiple of the number of ranks: the last ranks have padding,
/// which reaches no product and no gradient.
struct split_tokens {
  using layer_concept = leaf_tag;

  template <class X>
  using out = typename detail::takes<detail::needs::alike, X, shape::token_split>::type;

  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    if (!w.expect_rank(3)) return;
    fact::flow const whole = w.activation;
    if (whole.id != 0) w.message(shape::collective::all_gather, true, whole.shape);
    w.produce(whole.shape, whole.shape.rank - 2, whole.shape[-2]);
    w.backward(whole);
  }
};

}  // namespace redco::layers
