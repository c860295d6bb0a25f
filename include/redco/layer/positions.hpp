#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/walk.hpp>

#include <type_traits>

namespace redco {

/// Learned absolute positions: rows 0..T-1 of a [Context, Width] table, the same for every example, or the rows named by the
/// context's positions [B, T]. Gives a replicated [B, T, Width] that broadcasts over the batch.
template <auto Context, auto Width>
struct positions {
  using layer_concept = layer_tag;
  static constexpr bool unnamed = true;

  template <class X>
  using out = replicated;

  template <class X, class Config, class Walk>
  static constexpr void facts(Config const& config, Walk& w) {
    std::int64_t const width = of<Width>(config);
    parameter_fact weight;
    weight.shape = {of<Context>(config), width};
    weight.start = {initial::kind::normal, 1.0};
    weight.why = reason::position;
    w.parameter("weight", weight);
    w.produce({w.activation.shape[0], w.activation.shape[1], width});
  }
};

}  // namespace redco
