#pragma once

#include <redco/layer/extent_of.hpp>
#include <redco/layer/layer.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>
#include <string_view>

namespace redco {

/// A 2-D convolution layer over images [B, In, H, W] with square kernels and zero padding. Returns
/// [B, Out, (H + 2 Padding - Kernel) / Stride + 1, ...]. Weights are replicated on all ranks, so
/// the layer is data parallel only.
template <auto In, auto Out, auto Kernel, auto Stride = 1, auto Padding = 0, auto Bias = true>
struct conv2d {
  using layer_concept = layers::leaf_tag;
  static constexpr bool unnamed = true;

  template <class X>
  using out = typename layers::detail::takes<layers::detail::needs::alike, X, shape::replicated>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const in = w.size("channels to read", layers::extent_of<In>(config)),
                       outs = w.size("channels", layers::extent_of<Out>(config));
    std::int64_t const kernel = w.size("pixels of its kernel", layers::extent_of<Kernel>(config));
    std::int64_t const stride = w.size("pixels of stride", layers::extent_of<Stride>(config)),
                       padding = layers::extent_of<Padding>(config);
    if (!w.expect_rank(4)) return;
    w.expect("channels", 1, in);

    fact::parameter_fact weight;
    weight.shape = {outs, in, kernel, kernel};
    weight.start = {fact::initial::kind::normal, layers::fan_in_deviation(in * kernel * kernel)};
    weight.why = fact::reason::convolution;
    w.parameter("weight", weight);
    if (layers::extent_of<Bias>(config)) {
      fact::parameter_fact bias;
      bias.shape = {outs};
      bias.decay = false;
      bias.why = fact::reason::convolution;
      w.parameter("bias", bias);
    }
    w.save("input");
    extents const x = w.activation.shape;
    fact::flow const input = w.activation;
    auto const extent = [&](std::string_view name, std::int64_t pixels) {
      std::int64_t const room = pixels + 2 * padding - kernel;
      return w.size(name, room < 0 ? room : room / stride + 1);
    };
    w.produce({x[0], outs, extent("rows of its output", x[2]), extent("columns of its output", x[3])});
    w.multiply(w.activation.shape.count() / outs, in * kernel * kernel, outs);
    w.backward(input);
    w.weight_gradient(weight.shape, -1, 0);
  }
};

/// A transposed 2-D convolution layer over images [B, In, H, W] with "weight" [In, Out, Kernel,
/// Kernel]. Returns [B, Out, (H - 1) Stride - 2 Padding + Kernel + More, ...]. `More` (torch's
/// output_padding, less than Stride) adds rows and columns at the lower right edge. Weights are
/// replicated on all ranks, so the layer is data parallel only.
template <auto In, auto Out, auto Kernel, auto Stride = 1, auto Padding = 0, auto More = 0, auto Bias = true>
struct conv_transpose2d {
  using layer_concept = layers::leaf_tag;
  static constexpr bool unnamed = true;

  template <class X>
  using out = typename layers::detail::takes<layers::detail::needs::alike, X, shape::replicated>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const in = w.size("channels to read", layers::extent_of<In>(config)),
                       outs = w.size("channels", layers::extent_of<Out>(config));
    std::int64_t const kernel = w.size("pixels of its kernel", layers::extent_of<Kernel>(config));
    std::int64_t const stride = w.size("pixels of stride", layers::extent_of<Stride>(config));
    std::int64_t const grown = kernel + layers::extent_of<More>(config) - 2 * layers::extent_of<Padding>(config);
    if (!w.expect_rank(4)) return;
    w.expect("channels", 1, in);

    fact::parameter_fact weight;
    weight.shape = {in, outs, kernel, kernel};
    weight.start = {fact::initial::kind::normal, layers::fan_in_deviation(outs * kernel * kernel)};
    weight.why = fact::reason::convolution;
    w.parameter("weight", weight);
    if (layers::extent_of<Bias>(config)) {
      fact::parameter_fact bias;
      bias.shape = {outs};
      bias.decay = false;
      bias.why = fact::reason::convolution;
      w.parameter("bias", bias);
    }
    w.save("input");
    fact::flow const input = w.activation;
    extents const x = input.shape;
    w.produce({x[0], outs, w.size("rows of its output", (x[2] - 1) * stride + grown),
               w.size("columns of its output", (x[3] - 1) * stride + grown)});
    w.multiply(x[0] * x[2] * x[3], in, outs * kernel * kernel);
    w.backward(input);
    w.weight_gradient(weight.shape, -1, 0);
  }
};

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
    std::int64_t const channels = w.size("channels to read", layers::extent_of<Channels>(config));
    std::int64_t const rows = w.size("rows of a patch", layers::extent_of<Rows>(config)),
                       columns = w.size("columns of a patch", layers::extent_of<Columns>(config)),
                       width = w.size("features", layers::extent_of<Width>(config));
    if (!w.expect_rank(4)) return;
    w.expect("channels", 1, channels);
    w.multiple("rows of pixels", w.activation.shape[2], "pixels of a patch", rows);
    w.multiple("columns of pixels", w.activation.shape[3], "pixels of a patch", columns);
    std::int64_t const numbers = channels * rows * columns;
    fact::parameter_fact weight;
    weight.shape = {width, channels, rows, columns};
    weight.start = {fact::initial::kind::normal, layers::fan_in_deviation(numbers)};
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

namespace redco::layers {

/// A layer that joins patches to images [B, Channels, H, W], the inverse of the cut of
/// `patch_embedding`. The input [B, T, Channels * Rows * Columns] has one token for each patch, row
/// by row. `Down` is the number of patches in a column of an image.
template <auto Channels, auto Rows, auto Down, auto Columns = Rows>
struct image_of_patches {
  using layer_concept = leaf_tag;

  template <class X>
  using out = typename detail::takes<detail::needs::alike, X, shape::replicated>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const channels = w.size("channels", extent_of<Channels>(config)),
                       rows = w.size("rows of a patch", extent_of<Rows>(config)),
                       columns = w.size("columns of a patch", extent_of<Columns>(config)),
                       down = w.size("patches in a column", extent_of<Down>(config));
    if (!w.expect_rank(3)) return;
    w.expect_features(channels * rows * columns);
    fact::flow const input = w.activation;
    w.multiple("patches", input.shape[1], "patches in a column", down);
    w.produce({input.shape[0], channels, down * rows, input.shape[1] / down * columns});
    w.backward(input);
  }
};

}  // namespace redco::layers
