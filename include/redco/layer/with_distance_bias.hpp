#pragma once

#include <redco/layer/attention.hpp>
#include <redco/layer/forwarding.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/square_root.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>

namespace redco {

/// `Body` with a learned bias by distance on the scores of all attention in it that is `distance_biased` (Raffel et al.
/// 2020).
///
/// Distances key - query fall into `Buckets`, half of them single steps, the others growing up to `Farthest`, beyond which
/// all is one; full attention divides them between both directions, causal attention uses all for what is before. The
/// table "relative_attention_bias.weight" [Buckets, Heads] is cut by heads. It is looked up once, as the bias of each head
/// at each of the distances, which every block reads.
template <attention_kind Kind, auto Heads, auto Buckets, auto Farthest, layer Body>
struct with_distance_bias : detail::forwarding<Body> {
  template <class Other>
  using rebind = with_distance_bias<Kind, Heads, Buckets, Farthest, Other>;
  using unpaired = with_distance_bias<Kind, Heads, Buckets, Farthest, unpaired_t<Body>>;
  static constexpr bool unnamed = is_unnamed<Body>;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const heads = w.size("heads", of<Heads>(config)), buckets = w.size("buckets", of<Buckets>(config));
    if (!w.expect_rank(3)) return;
    fact::parameter_fact table;
    table.shape = {buckets, heads};
    table.split(axis::tp, 1, heads);
    table.start = {fact::initial::kind::normal, 1.0 / square_root(static_cast<double>(buckets))};
    table.why = fact::reason::heads;
    w.inside("relative_attention_bias", [&] { w.parameter("weight", table); });

    fact::flow const input = w.activation;
    std::int64_t const distances = 2 * input.shape[1] - 1;
    w.save("buckets", {distances}, -1, fact::width_kind::index);
    w.produce({heads, distances}, 0, heads);
    fact::flow const bias = w.activation;
    w.save("bias");
    w.backward({});
    w.weight_gradient(table.shape, 1, heads);
    w.activation = input;
    w.carrying(bias, [&] { Body::template facts<X>(config, w); });
  }
};

}  // namespace redco
