#pragma once

#include <redco/layer/featurewise.hpp>

#include <cstdint>

namespace redco::layers {

/// A layer that multiplies its input by the constant Factor.
template <auto Factor>
struct scale : featurewise_layer {
  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    if (static_cast<double>(of<Factor>(config)) == 1) return;
    fact::flow const input = w.activation;
    w.produce(input.shape, input.split_dim, input.units);
    w.backward(input);
  }
};

}  // namespace redco::layers
