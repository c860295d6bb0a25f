#pragma once

#include <redco/layer/attention.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>

namespace redco::layers {

/// A wrapper that adds a learned bias by distance (key position - query position) to the scores of
/// attention layers in `Body` with the trait `distance_biased` (Raffel et al. 2020). The table
/// "relative_attention_bias.weight" [Buckets, Heads] is split by heads and looked up once for all
/// blocks.
///
/// Half of the buckets are for single distances; the rest grow up to `Farthest`, and larger
/// distances share the last bucket. Full attention divides the buckets between both directions;
/// causal attention uses all for earlier keys.
template <attention_kind Kind, auto Heads, auto Buckets, auto Farthest, layer Body>
struct with_distance_bias : detail::forwarding<Body> {
  template <class Other>
  using rebind = with_distance_bias<Kind, Heads, Buckets, Farthest, Other>;
  using unpaired = with_distance_bias<Kind, Heads, Buckets, Farthest, unpaired_t<Body>>;
  static constexpr bool unnamed = is_unnamed<Body>;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const heads = w.size("heads", extent_of<Heads>(config)),
                       buckets = w.size("buckets", extent_of<Buckets>(config));
    if (!w.expect_rank(3)) return;
    fact::parameter_fact table;
    table.shape = {buckets, heads};
    table.split(shape::axis::tp, 1, heads);
    table.start = {fact::initial::kind::normal, 1.0 / square_root(static_cast<double>(buckets))};
    table.why = fact::reason::heads;
    std::int64_t const distances = 2 * w.activation.shape[1] - 1;
    auto const look_up = [&] {
      w.inside("relative_attention_bias", [&] { w.parameter("weight", table); });
      w.save("buckets", {distances}, -1, fact::width_kind::index);
      w.produce({heads, distances}, 0, heads);
      w.save("bias");
      w.backward({});
      w.weight_gradient(table.shape, 1, heads);
    };
    w.for_blocks(look_up, [&] { Body::template facts<X>(config, w); });
  }
};

}  // namespace redco::layers
