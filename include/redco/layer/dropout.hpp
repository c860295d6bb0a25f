#pragma once

#include <redco/layer/activations.hpp>

namespace redco {

/// A layer that zeroes each feature with probability p = `Probability` in training and scales all
/// other features by 1 / (1 - p). Random numbers are keyed by seed, layer, step, row, position and
/// feature, so every mesh drops the same features. Backward draws them again, so that no mask is
/// saved.
template <auto Probability>
struct dropout : layers::featurewise_layer {
  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    if (layers::extent_of<Probability>(config) <= 0) return;
    fact::flow const input = w.activation;
    w.produce(input.shape, input.split_dim, input.units);
    w.backward(input);
  }
};

}  // namespace redco
