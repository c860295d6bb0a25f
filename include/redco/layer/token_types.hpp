#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>

namespace redco::layers {

/// A layer that looks up rows of a [Types, Width] table by the context entry `token_type_ids` [B,
/// T]; all types are 0 without this entry. Returns a replicated [B, T, Width].
template <auto Types, auto Width>
struct token_types {
  using layer_concept = leaf_tag;
  static constexpr bool unnamed = true;

  template <class X>
  using out = shape::replicated;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const width = w.size("features", of<Width>(config)), types = w.size("token types", of<Types>(config));
    if (!w.expect_rank(2)) return;
    fact::parameter_fact weight;
    weight.shape = {types, width};
    weight.start = {fact::initial::kind::normal, 1.0};
    weight.why = fact::reason::token_type;
    w.parameter("weight", weight);
    extents const ids = w.activation.shape;
    w.save_batch("types", {ids[0], ids[1]}, fact::width_kind::index);
    w.produce({ids[0], ids[1], width});
    w.backward({});
    w.weight_gradient(weight.shape, -1, 0);
  }
};

}  // namespace redco::layers
