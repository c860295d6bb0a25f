#pragma once

#include <redco/layer/extent_of.hpp>
#include <redco/layer/layer.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace redco::layers {

/// Number of rows over which the backward of a norm sums parameter gradients at a time. The sums of
/// these groups of rows are then added in order.
inline constexpr std::int64_t norm_block_rows = 64;

}  // namespace redco::layers

namespace redco::layers::detail {

/// Returns the sums of `numbers` numbers over blocks of the rows of each example, for the input
/// [B, T, features] of a layer.
constexpr fact::flow sums_of_examples(fact::flow const& input, std::int64_t numbers) {
  fact::flow sums = input;  // Keeps the cut of the input's rows.
  std::int64_t const blocks = (input.shape[1] + norm_block_rows - 1) / norm_block_rows;
  sums.shape = {input.shape[0], blocks, numbers};
  sums.units = input.split_dim < 0 ? 0 : blocks;
  return sums;
}

/// Declares to the recorder `w` the parameters "weight" [outputs, features] and "bias" of a linear
/// function of the condition, the encoder's output [B, features], and its product. Both start at
/// zero. X is the layout of the input of the layer that reads the product.
template <class X>
constexpr void condition_facts(fact::recorder& w, std::int64_t features, std::int64_t outputs) {
  if (!w.expect_rank(w.encoded, 2)) return;
  w.expect(w.encoded, "features", -1, features);
  fact::parameter_fact weight;
  weight.shape = {outputs, features};
  weight.why = fact::reason::stated;
  fact::parameter_fact bias = weight;
  bias.shape = {outputs};
  bias.decay = false;
  w.parameter("weight", weight);
  w.parameter("bias", bias);
  std::int64_t const examples = w.encoded.shape[0];
  fact::shared_parameter_facts<X>(w, {examples, outputs});
  w.read(w.encoded);
  w.multiply(examples, features, outputs);
}

}  // namespace redco::layers::detail

namespace redco::layers {

/// Returns the initial value of a norm's weight whose factor is `offset` + weight.
constexpr fact::initial norm_start(int offset) {
  return {offset == 0 ? fact::initial::kind::ones : fact::initial::kind::zeros, 0};
}

/// A base of layer_norm and rms_norm, which normalise over the last dimension with learned weights.
/// Features must not be split over ranks. `Statistics` is the number of values that are saved per
/// row for backward. The factor of a feature is `Offset` + its weight, initially 1.
template <auto Width, int Statistics, bool Bias, int Offset = 0>
struct norm_layer {
  using layer_concept = leaf_tag;
  static constexpr bool by_token = true;
  static constexpr bool unnamed = true;

  /// Output layout for an input of layout X, which is X. An input split by features is a compile
  /// error; the layout stays X so that following layers add no second error.
  template <class X>
  using out = typename detail::takes<detail::needs::features_alike, X,
                                     std::conditional_t<shape::is_feature_split<X>, X, reduction_layout_t<X>>>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const width = w.size("features", extent_of<Width>(config));
    w.expect_features(width);
    fact::parameter_fact weight;
    weight.shape = {width};
    weight.decay = false;
    weight.start = norm_start(Offset);
    weight.why = fact::reason::norm;
    w.parameter("weight", weight);
    fact::shared_parameter_facts<X>(w, weight.shape);
    weight.start = {};
    if constexpr (Bias) {
      w.parameter("bias", weight);
      fact::shared_parameter_facts<X>(w, weight.shape);
    }

    fact::flow const input = w.activation;
    w.save("input");
    extents rows = input.shape;
    rows[-1] = 1;
    if constexpr (Statistics == 2) w.save("mean", rows, input.split_dim, fact::width_kind::accumulate, input.units);
    w.save("inverse_deviation", rows, input.split_dim, fact::width_kind::accumulate, input.units);
    w.produce(input.shape, input.split_dim, input.units);
    w.backward(input);
    std::int64_t const blocks = (input.shape.count() / input.shape[-1] + norm_block_rows - 1) / norm_block_rows;
    fact::flow sums = input;  // Keeps the cut of the input's rows.
    sums.shape = {2, blocks, input.shape[-1]};
    sums.split_dim = input.split_dim < 0 ? -1 : 1;
    sums.units = input.split_dim < 0 ? 0 : blocks;
    w.workspace("parameter_gradient_sums", sums, fact::width_kind::accumulate);
  }
};

/// A layer normalisation of [B, T, Width] whose scale and shift depend on a condition (Peebles and
/// Xie 2023): (x - mean) / sqrt(variance + Epsilon) * (1 + scale) + shift. The condition is the
/// encoder's output [B, Condition]. "weight" [2 Width, Condition] and "bias" compute scale, then
/// shift; both start at zero.
template <auto Width, auto Condition = Width, auto Epsilon = real{1e-6}>
struct adaptive_layer_norm {
  using layer_concept = leaf_tag;
  static constexpr bool unnamed = true;

  template <class X>
  using out = typename detail::takes<detail::needs::features_alike, X,
                                     std::conditional_t<shape::is_feature_split<X>, X, reduction_layout_t<X>>>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const width = w.size("features", extent_of<Width>(config));
    if (!w.expect_rank(3)) return;
    w.expect_features(width);
    detail::condition_facts<X>(w, w.size("features of the condition", extent_of<Condition>(config)), 2 * width);

    fact::flow const input = w.activation;
    extents const rows = {input.shape[0], input.shape[1], 1};
    w.save("input");
    w.save("mean", rows, input.split_dim, fact::width_kind::accumulate, input.units);
    w.save("inverse_deviation", rows, input.split_dim, fact::width_kind::accumulate, input.units);
    w.save("modulation", {input.shape[0], 1, 2 * width}, -1, fact::width_kind::compute);
    w.produce(input.shape, input.split_dim, input.units);
    w.backward(input);
    w.workspace("modulation_gradient_sums", detail::sums_of_examples(input, 2 * width), fact::width_kind::accumulate);
    w.weight_gradient({2 * width, extent_of<Condition>(config)}, -1, 0);
  }
};

/// A layer that multiplies the features of [B, T, Width] by gates (Peebles and Xie 2023). The gates
/// are a linear function of a condition, the encoder's output [B, Condition]. "weight" [Width,
/// Condition] and "bias" start at zero, so a residual branch that ends with the layer is zero at
/// first.
template <auto Width, auto Condition = Width>
struct adaptive_gate {
  using layer_concept = leaf_tag;
  static constexpr bool unnamed = true;

  template <class X>
  using out = typename adaptive_layer_norm<Width, Condition>::template out<X>;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const width = w.size("features", extent_of<Width>(config));
    if (!w.expect_rank(3)) return;
    w.expect_features(width);
    detail::condition_facts<X>(w, w.size("features of the condition", extent_of<Condition>(config)), width);

    fact::flow const input = w.activation;
    w.save("input");
    w.save("gate", {input.shape[0], 1, width}, -1, fact::width_kind::compute);
    w.produce(input.shape, input.split_dim, input.units);
    w.backward(input);
    w.workspace("gate_gradient_sums", detail::sums_of_examples(input, width), fact::width_kind::accumulate);
    w.weight_gradient({width, extent_of<Condition>(config)}, -1, 0);
  }
};

}  // namespace redco::layers

namespace redco {

/// A layer normalisation over the last dimension (Ba et al. 2016): (x - mean) / sqrt(variance +
/// Epsilon) * weight + bias.
template <auto Width, auto Epsilon = layers::real{1e-5}>
struct layer_norm : layers::norm_layer<Width, 2, true> {};

/// A root-mean-square normalisation over the last dimension (Zhang and Sennrich 2019): x /
/// sqrt(mean(x^2) + Epsilon) * (Offset + weight). `Offset` is 0, or 1 as in Gemma, whose weights
/// are initially 0.
template <auto Width, auto Epsilon = layers::real{1e-6}, int Offset = 0>
struct rms_norm : layers::norm_layer<Width, 1, false, Offset> {
  static_assert(Offset == 0 || Offset == 1);
};

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
    std::int64_t const channels = w.size("channels", layers::extent_of<Channels>(config)),
                       groups = w.size("groups", layers::extent_of<Groups>(config));
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
    std::int64_t const channels = w.size("channels", layers::extent_of<Channels>(config));
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
