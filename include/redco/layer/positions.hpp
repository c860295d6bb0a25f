#pragma once

#include <redco/layer/counted_tokens.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>
#include <type_traits>

namespace redco {

/// Learned absolute positions: rows Offset + 0..T-1 of a [Offset + Context, Width] table, the same for every example, or the
/// rows named by the context's positions [B, T]. Gives a replicated [B, T, Width] that broadcasts over the batch. Where
/// `Counted` leaves tokens out, each example has positions of its own.
template <auto Context, auto Width, auto Offset = 0, class Counted = every_token>
struct positions {
  using layer_concept = leaf_tag;
  static constexpr bool unnamed = true;

  template <class X>
  using out = replicated;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const width = w.size("features", of<Width>(config)),
                       context = w.size("positions", of<Context>(config));
    if (w.activation.shape.rank != 3 && !w.expect_rank(2)) return;  // of ids or of rows of features
    fact::parameter_fact weight;
    weight.shape = {context + of<Offset>(config), width};
    weight.start = {fact::initial::kind::normal, 1.0};
    weight.why = fact::reason::position;
    w.parameter("weight", weight);
    extents const ids = w.activation.shape;
    constexpr bool by_example = !std::is_same_v<Counted, every_token>;
    if constexpr (by_example) w.save("rows", {ids[0], ids[1]}, -1, fact::width_kind::index);
    w.produce({ids[0], ids[1], width});
    if constexpr (by_example) {
      w.backward({});
      w.weight_gradient(weight.shape, -1, 0);
    }
  }
};

}  // namespace redco
