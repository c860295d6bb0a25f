#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/takes.hpp>
#include <redco/fact/recorder.hpp>

namespace redco {

/// A layer that joins all dimensions except the first: [B, C, H, W] becomes [B, C * H * W], as a
/// view.
struct flatten {
  using layer_concept = layers::leaf_tag;

  template <class X>
  using out = typename layers::detail::takes<layers::detail::needs::alike, X, shape::replicated>::type;

  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    extents const x = w.activation.shape;
    w.reshape({x[0], x.count() / x[0]});
  }
};

}  // namespace redco
