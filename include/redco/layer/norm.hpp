#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/takes.hpp>
#include <redco/layer/walk.hpp>

namespace redco {

/// What the norms share: weights over the last dimension, whole features in and out, statistics kept per row.
template <auto Width, int Statistics, bool Bias>
struct norm_layer {
  using layer_concept = layer_tag;
  static constexpr bool unnamed = true;

  template <class X>
  using out = typename detail::takes<detail::needs::alike, X, replicated>::type;

  template <class X, class Config, class Walk>
  static constexpr void facts(Config const& config, Walk& w) {
    parameter_fact weight;
    weight.shape = {of<Width>(config)};
    weight.decay = false;
    weight.start = {initial::kind::ones, 0};
    weight.why = reason::norm;
    w.parameter("weight", weight);
    weight.start = {};
    if constexpr (Bias) w.parameter("bias", weight);

    w.keep("input");
    extents rows = w.activation.shape;
    rows[-1] = 1;
    if constexpr (Statistics == 2) w.keep("mean", rows, -1, width_kind::accumulate);
    w.keep("inverse_deviation", rows, -1, width_kind::accumulate);
    w.produce(w.activation.shape);
  }
};

}  // namespace redco
