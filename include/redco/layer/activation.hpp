#pragma once

#include <redco/layer/activation_kind.hpp>
#include <redco/layer/featurewise.hpp>
#include <redco/layer/of.hpp>

namespace redco::layers {

/// A layer that applies the activation function `Kind` to each element. `Kind` is an
/// activation_kind or a function of the model's config. Saves its input for backward, or its output
/// if the derivative can be computed from the output.
template <auto Kind>
struct activation : featurewise_layer {
  static constexpr auto kind = Kind;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    fact::flow const input = w.activation;
    bool const output = keeps_output(of<Kind>(config));
    if (!output) w.save("input");
    w.produce(input.shape, input.split_dim, input.units);
    if (output) w.save("output");
    w.backward(input);
  }
};

}  // namespace redco::layers
