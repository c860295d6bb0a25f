#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/takes.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>

namespace redco {

/// A layer that adds a learned token, its parameter "weight" [Width], before the tokens of each
/// example. [B, T, Width] becomes [B, T + 1, Width].
template <auto Width>
struct class_token {
  using layer_concept = layers::leaf_tag;
  static constexpr bool unnamed = true;

  template <class X>
  using out = typename layers::detail::takes<layers::detail::needs::alike, X, shape::replicated>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const width = w.size("features", layers::of<Width>(config));
    if (!w.expect_rank(3)) return;
    w.expect_features(width);
    fact::parameter_fact token;
    token.shape = {width};
    token.start = {fact::initial::kind::normal, 1.0};
    token.why = fact::reason::class_token;
    w.parameter("weight", token);
    fact::flow const input = w.activation;
    w.produce({input.shape[0], input.shape[1] + 1, input.shape[2]});
    w.backward(input);
  }
};

}  // namespace redco
