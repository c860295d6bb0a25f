#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/square_root.hpp>
#include <redco/layer/takes.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>

namespace redco {

/// A layer that cuts images [B, Channels, H, W] into patches of Rows x Columns pixels, row by row.
/// Each patch becomes one token of the result [B, H/Rows * W/Columns, Width]. Equal to a
/// convolution whose stride is its kernel, but computed as one matrix product with "weight" [Width,
/// Channels, Rows, Columns]. Weights are replicated: data parallel only.
template <auto Channels, auto Rows, auto Width, auto Columns = Rows>
struct patch_embedding {
  using layer_concept = layers::leaf_tag;
  static constexpr bool unnamed = true;

  template <class X>
  using out = typename layers::detail::takes<layers::detail::needs::alike, X, shape::replicated>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const channels = w.size("channels to read", layers::of<Channels>(config));
    std::int64_t const rows = w.size("rows of a patch", layers::of<Rows>(config)),
                       columns = w.size("columns of a patch", layers::of<Columns>(config)),
                       width = w.size("features", layers::of<Width>(config));
    if (!w.expect_rank(4)) return;
    w.expect("channels", 1, channels);
    w.multiple("rows of pixels", w.activation.shape[2], "pixels of a patch", rows);
    w.multiple("columns of pixels", w.activation.shape[3], "pixels of a patch", columns);
    std::int64_t const numbers = channels * rows * columns;
    fact::parameter_fact weight;
    weight.shape = {width, channels, rows, columns};
    weight.start = {fact::initial::kind::normal, 1.0 / layers::square_root(3.0 * static_cast<double>(numbers))};
    weight.why = fact::reason::convolution;
    w.parameter("weight", weight);
    fact::parameter_fact bias;
    bias.shape = {width};
    bias.decay = false;
    bias.why = fact::reason::convolution;
    w.parameter("bias", bias);

    extents const pixels = w.activation.shape;
    std::int64_t const patches = (pixels[2] / rows) * (pixels[3] / columns);
    w.save_batch("pixels", pixels, fact::width_kind::compute);
    w.save("patches", {pixels[0], patches, numbers}, -1, fact::width_kind::compute);
    w.produce({pixels[0], patches, width});
    w.multiply(pixels[0] * patches, numbers, width);
    w.backward({});
    w.weight_gradient(weight.shape, -1, 0);
  }
};

}  // namespace redco
