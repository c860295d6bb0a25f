#pragma once

#include <redco/layer/linear.hpp>
#include <redco/layer/of.hpp>

namespace redco {

/// A linear layer without bias, whole on every rank, between two widths; where they agree there is none, and no parameter.
template <auto In, auto Out>
struct projection : whole_linear<In, Out, false> {
  using alone = projection;

  template <class X, class Config, class Walk>
  static constexpr void facts(Config const& config, Walk& w) {
    if (of<In>(config) != of<Out>(config)) {
      whole_linear<In, Out, false>::template facts<X>(config, w);
    } else {
      w.expect_features(w.size("features", of<In>(config)));
    }
  }
};

}  // namespace redco
