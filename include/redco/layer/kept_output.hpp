#pragma once

#include <redco/layer/featurewise.hpp>

namespace redco {

/// The base of featurewise layers that keep their output instead of their input: their derivative can be made from it.
struct kept_output_layer : featurewise_layer {
  template <class X, class Config, class Walk>
  static constexpr void facts(Config const&, Walk& w) {
    flow const input = w.activation;
    w.produce(input.shape, input.split_dim, input.units);
    w.keep("output");
    w.backward(input);
  }
};

}  // namespace redco
