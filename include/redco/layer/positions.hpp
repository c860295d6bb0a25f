#pragma once

#include <redco/layer/counted_tokens.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>
#include <type_traits>

namespace redco {

/// A layer of learned absolute positions: returns rows of a table [Offset + Context, Width], one
/// for each token. Token t reads row Offset + t, or Offset + `token_positions` if the context has
/// this entry. `Counted` is a counting rule that can skip tokens such as padding. The result [B, T,
/// Width] is replicated; its B is 1 if all examples have equal positions.
template <auto Context, auto Width, auto Offset = 0, class Counted = layers::every_token>
struct positions {
  using layer_concept = layers::leaf_tag;
  static constexpr bool unnamed = true;

  template <class X>
  using out = shape::replicated;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const width = w.size("features", layers::of<Width>(config)),
                       context = w.size("positions", layers::of<Context>(config));
    // The input is ids or rows of features.
    if (w.activation.shape.rank != 3 && !w.expect_rank(2)) return;
    fact::parameter_fact weight;
    weight.shape = {context + layers::of<Offset>(config), width};
    weight.start = {fact::initial::kind::normal, 1.0};
    weight.why = fact::reason::position;
    w.parameter("weight", weight);
    extents const ids = w.activation.shape;
    constexpr bool by_example = !std::is_same_v<Counted, layers::every_token>;
    if constexpr (by_example) w.save("rows", {ids[0], ids[1]}, -1, fact::width_kind::index);
    w.produce({ids[0], ids[1], width});
    if constexpr (by_example) {
      w.backward({});
      w.weight_gradient(weight.shape, -1, 0);
    }
  }
};

}  // namespace redco
