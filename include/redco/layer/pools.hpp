#pragma once

#include <redco/layer/extent_of.hpp>
#include <redco/layer/layer.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>

namespace redco {

/// A layer that computes the maximum of each Kernel x Kernel window of images [B, C, H, W]. Windows
/// do not overlap.
template <auto Kernel>
struct max_pool {
  using layer_concept = layers::leaf_tag;

  template <class X>
  using out = typename layers::detail::takes<layers::detail::needs::alike, X, shape::replicated>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const kernel = w.size("pixels of its window", layers::extent_of<Kernel>(config));
    if (!w.expect_rank(4)) return;
    extents const x = w.activation.shape;
    extents const pooled = {x[0], x[1], w.size("rows of its output", x[2] / kernel),
                            w.size("columns of its output", x[3] / kernel)};
    fact::flow const input = w.activation;
    w.save("input");
    w.save("indices", pooled, -1, fact::width_kind::index);
    w.produce(pooled);
    w.backward(input);
  }
};

/// A layer that computes the mean of each Kernel x Kernel window of images [B, C, H, W]. Windows do
/// not overlap. Rows and columns at the lower and right edge that fill no whole window are ignored.
template <auto Kernel>
struct average_pool {
  using layer_concept = layers::leaf_tag;

  template <class X>
  using out = typename layers::detail::takes<layers::detail::needs::alike, X, shape::replicated>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const kernel = w.size("pixels of its window", layers::extent_of<Kernel>(config));
    if (!w.expect_rank(4)) return;
    fact::flow const input = w.activation;
    extents const x = input.shape;
    w.save("input");
    w.produce(
        {x[0], x[1], w.size("rows of its output", x[2] / kernel), w.size("columns of its output", x[3] / kernel)});
    w.backward(input);
  }
};

}  // namespace redco
