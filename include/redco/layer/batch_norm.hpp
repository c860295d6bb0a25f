#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/real.hpp>
#include <redco/layer/takes.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>
#include <string_view>

namespace redco {

/// A batch normalisation layer (Ioffe and Szegedy 2015) over [B, Channels, ...]. Each channel
/// becomes (x - mean) / sqrt(variance + Epsilon) * "weight" + "bias". Training takes mean and
/// variance over the micro-batches that all replicas compute concurrently. Evaluation uses the
/// running averages "running_mean" and "running_variance" (unbiased) with update rate Momentum,
/// which checkpoints store.
template <auto Channels, auto Epsilon = layers::real{1e-5}, auto Momentum = layers::real{0.1}>
struct batch_norm {
  using layer_concept = layers::leaf_tag;
  static constexpr bool unnamed = true;

  template <class X>
  using out = typename layers::detail::takes<layers::detail::needs::alike, X, shape::replicated>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const channels = w.size("channels", layers::of<Channels>(config));
    if (w.activation.shape.rank == 2) w.expect_features(channels);
    else w.expect("channels", 1, channels);
    auto const state = [&](std::string_view leaf, fact::initial::kind start, bool trained) {
      fact::parameter_fact fact;
      fact.shape = {channels};
      fact.decay = false;
      fact.trained = trained;
      fact.start = {start, 0};
      fact.why = trained ? fact::reason::norm : fact::reason::statistics;
      w.parameter(leaf, fact);
    };
    state("weight", fact::initial::kind::ones, true);
    state("bias", fact::initial::kind::zeros, true);
    state("running_mean", fact::initial::kind::zeros, false);
    state("running_variance", fact::initial::kind::ones, false);

    fact::flow const input = w.activation;
    w.save("input");
    w.save("mean", {channels}, -1, fact::width_kind::accumulate);
    w.save("variance", {channels}, -1, fact::width_kind::accumulate);
    w.produce(input.shape);
    w.backward(input);
    w.sum_over_replicas(false, channels + 1);  // Sums and the count of elements.
    w.sum_over_replicas(false, channels);      // Squared deviations from the mean.
    w.sum_over_replicas(true, 2 * channels);
  }
};

}  // namespace redco
