#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/takes.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/recorder.hpp>

namespace redco::layers {

/// A layer that returns the first token of each example: [B, T, Width] becomes [B, Width]. Copies
/// the token, so that the other tokens can be freed. Gathers the tokens first if they are split
/// over ranks.
struct first_token {
  using layer_concept = leaf_tag;

  template <class X>
  using out = typename detail::takes<detail::needs::features_alike, X, shape::replicated>::type;

  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    if (!w.expect_rank(3)) return;
    fact::detail::unshard_facts<X>(w);
    fact::flow const input = w.activation;
    w.produce({input.shape[0], input.shape[2]});
    w.backward(input);
  }
};

}  // namespace redco::layers
