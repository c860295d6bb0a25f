#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/square_root.hpp>
#include <redco/layer/takes.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>

namespace redco {

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
    std::int64_t const in = w.size("channels to read", layers::of<In>(config)),
                       outs = w.size("channels", layers::of<Out>(config));
    std::int64_t const kernel = w.size("pixels of its kernel", layers::of<Kernel>(config));
    std::int64_t const stride = w.size("pixels of stride", layers::of<Stride>(config));
    std::int64_t const grown = kernel + layers::of<More>(config) - 2 * layers::of<Padding>(config);
    if (!w.expect_rank(4)) return;
    w.expect("channels", 1, in);

    fact::parameter_fact weight;
    weight.shape = {in, outs, kernel, kernel};
    weight.start = {fact::initial::kind::normal,
                    1.0 / layers::square_root(3.0 * static_cast<double>(outs * kernel * kernel))};
    weight.why = fact::reason::convolution;
    w.parameter("weight", weight);
    if (layers::of<Bias>(config)) {
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

}  // namespace redco
