#pragma once

#include <redco/layer/featurewise.hpp>

namespace redco {

/// The hyperbolic tangent. Its result is kept, from which its derivative is made.
struct tanh_layer : featurewise_layer {
  template <class X, class Config, class Walk>
  static constexpr void facts(Config const&, Walk& w) {
    flow const input = w.activation;
    w.produce(input.shape, input.split_dim, input.units);
    w.keep("output");
    w.backward(input);
  }
};

}  // namespace redco
