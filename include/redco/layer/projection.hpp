#pragma once

#include <redco/layer/linear.hpp>
#include <redco/layer/of.hpp>

namespace redco {

/// A replicated linear layer without bias between two widths. It is the identity, without
/// parameters, if the widths are equal.
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

}  // namespace redco
