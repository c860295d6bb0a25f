#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/square_root.hpp>
#include <redco/layer/takes.hpp>
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
    std::int64_t const in = w.size("channels to read", layers::of<In>(config)),
                       outs = w.size("channels", layers::of<Out>(config));
    std::int64_t const kernel = w.size("pixels of its kernel", layers::of<Kernel>(config));
    std::int64_t const stride = w.size("pixels of stride", layers::of<Stride>(config)),
                       padding = layers::of<Padding>(config);
    if (!w.expect_rank(4)) return;
    w.expect("channels", 1, in);

    fact::parameter_fact weight;
    weight.shape = {outs, in, kernel, kernel};
    weight.start = {fact::initial::kind::normal,
                    1.0 / layers::square_root(3.0 * static_cast<double>(in * kernel * kernel))};
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
    extents const x = w.activation.shape;
    fact::flow const input = w.activation;
    auto const extent = [&](std::string_view what, std::int64_t pixels) {
      std::int64_t const room = pixels + 2 * padding - kernel;
      return w.size(what, room < 0 ? room : room / stride + 1);
    };
    w.produce({x[0], outs, extent("rows of its output", x[2]), extent("columns of its output", x[3])});
    w.multiply(w.activation.shape.count() / outs, in * kernel * kernel, outs);
    w.backward(input);
    w.weight_gradient(weight.shape, -1, 0);
  }
};

}  // namespace redco
