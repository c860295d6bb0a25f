#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/takes.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>
#include <type_traits>

namespace redco::layers {

/// Number of rows over which the backward of a norm sums parameter gradients at a time. The sums of
/// these groups of rows are then added in order.
inline constexpr std::int64_t norm_block_rows = 64;

/// A base of layer_norm and rms_norm, which normalise over the last dimension with learned weights.
/// Features must not be split over ranks. `Statistics` is the number of values that are saved per
/// row for backward.
template <auto Width, int Statistics, bool Bias>
struct norm_layer {
  using layer_concept = leaf_tag;
  static constexpr bool unnamed = true;

  /// Output layout for an input of layout X, which is X. An input split by features is a compile
  /// error; the layout stays X so that following layers add no second error.
  template <class X>
  using out = typename detail::takes<detail::needs::features_alike, X,
                                     std::conditional_t<shape::is_feature_split<X>, X, home_t<X>>>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const width = w.size("features", of<Width>(config));
    w.expect_features(width);
    fact::parameter_fact weight;
    weight.shape = {width};
    weight.decay = false;
    weight.start = {fact::initial::kind::ones, 0};
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

}  // namespace redco::layers
