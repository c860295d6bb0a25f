#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/real.hpp>
#include <redco/layer/takes.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>

namespace redco {

/// A group normalisation layer (Wu and He 2018) over [B, Channels, ...]. The channels of each
/// example are divided into Groups consecutive groups, and each group is normalised: (x - mean) /
/// sqrt(variance + Epsilon). The result is multiplied by "weight" and added to "bias" of its
/// channel. Groups must divide Channels.
template <auto Groups, auto Channels, auto Epsilon = layers::real{1e-5}>
struct group_norm {
  using layer_concept = layers::leaf_tag;
  static constexpr bool unnamed = true;

  template <class X>
  using out = typename layers::detail::takes<layers::detail::needs::alike, X, shape::replicated>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const channels = w.size("channels", layers::of<Channels>(config)),
                       groups = w.size("groups", layers::of<Groups>(config));
    w.expect("channels", 1, channels);
    w.multiple("channels", channels, "groups", groups);
    fact::parameter_fact weight;
    weight.shape = {channels};
    weight.decay = false;
    weight.start = {fact::initial::kind::ones, 0};
    weight.why = fact::reason::norm;
    w.parameter("weight", weight);
    weight.start = {};
    w.parameter("bias", weight);

    fact::flow const input = w.activation;
    extents const statistics = {input.shape[0], groups};
    w.save("input");
    w.save("mean", statistics, -1, fact::width_kind::compute);
    w.save("inverse_deviation", statistics, -1, fact::width_kind::compute);
    w.produce(input.shape);
    w.backward(input);
  }
};

}  // namespace redco
