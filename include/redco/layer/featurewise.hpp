#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/takes.hpp>
#include <redco/fact/recorder.hpp>

namespace redco::layers {

/// A base of layers that act on each feature independently, so that features may be split over
/// ranks. Such layers save their input for backward and accept every layout except a pending sum.
struct featurewise_layer {
  using layer_concept = leaf_tag;
  static constexpr bool featurewise = true;

  template <class X>
  using out = typename detail::takes<detail::needs::value, X, X>::type;

  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    fact::flow const input = w.activation;
    w.save("input");
    w.produce(input.shape, input.split_dim, input.units);
    w.backward(input);
  }
};

}  // namespace redco::layers
