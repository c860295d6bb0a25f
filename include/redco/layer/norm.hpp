#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/takes.hpp>
#include <redco/layer/walk.hpp>

#include <cstdint>

namespace redco {

/// Rows whose parameter gradients are summed together in a norm's backward; the blocks' sums are then added in order.
inline constexpr std::int64_t norm_block_rows = 64;

/// What the norms share: weights over the last dimension, whole features in and out, statistics kept per row.
template <auto Width, int Statistics, bool Bias>
struct norm_layer {
  using layer_concept = layer_tag;
  static constexpr bool unnamed = true;

  template <class X>
  using out = typename detail::takes<detail::needs::alike, X, replicated>::type;

  template <class X, class Config, class Walk>
  static constexpr void facts(Config const& config, Walk& w) {
    parameter_fact weight;
    weight.shape = {of<Width>(config)};
    weight.decay = false;
    weight.start = {initial::kind::ones, 0};
    weight.why = reason::norm;
    w.parameter("weight", weight);
    weight.start = {};
    if constexpr (Bias) w.parameter("bias", weight);

    flow const input = w.activation;
    w.keep("input");
    extents rows = input.shape;
    rows[-1] = 1;
    if constexpr (Statistics == 2) w.keep("mean", rows, -1, width_kind::accumulate);
    w.keep("inverse_deviation", rows, -1, width_kind::accumulate);
    w.produce(input.shape);
    w.backward(input);
    std::int64_t const blocks = (input.shape.count() / input.shape[-1] + norm_block_rows - 1) / norm_block_rows;
    w.workspace("parameter_gradient_sums", {{2, blocks, input.shape[-1]}}, width_kind::accumulate);
  }
};

}  // namespace redco
