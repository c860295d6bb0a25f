#pragma once

#include <redco/layer/featurewise.hpp>

namespace redco {

/// max(x, 0). Its result is kept, not its input: their signs agree, and the layer behind mostly keeps it anyway.
struct relu : featurewise_layer {
  template <class X, class Config, class Walk>
  static constexpr void facts(Config const&, Walk& w) {
    flow const input = w.activation;
    w.produce(input.shape, input.split_dim, input.units);
    w.keep("output");
    w.backward(input);
  }
};

}  // namespace redco
