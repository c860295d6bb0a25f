#pragma once

#include <redco/layer/linear.hpp>
#include <redco/layer/of.hpp>

namespace redco::layers {

/// A linear layer without bias that converts from In to Out features, replicated on every rank. If
/// In equals Out, the layer returns its input and has no parameters.
template <auto In, auto Out>
struct projection : replicated_linear<In, Out, false> {
  using unpaired = projection;
  using overridden = projection;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    if (of<In>(config) != of<Out>(config)) {
      replicated_linear<In, Out, false>::template facts<X>(config, w);
    } else {
      w.expect_features(w.size("features", of<In>(config)));
    }
  }
};

}  // namespace redco::layers
