#pragma once

#include <redco/layer/forwarding.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/fact/recorder.hpp>

namespace redco::layers {

/// A wrapper that draws the initial weights of `Layer` from a normal distribution with standard
/// deviation `Deviation`, as a model family prescribes. Biases start at zero.
template <auto Deviation, layer Layer>
struct initialised : detail::forwarding<Layer> {
  template <class Other>
  using rebind = initialised<Deviation, Other>;
  using unpaired = initialised<Deviation, unpaired_t<Layer>>;
  static constexpr bool unnamed = is_unnamed<Layer>;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    double const outer = w.deviation;
    w.deviation = static_cast<double>(of<Deviation>(config));
    Layer::template facts<X>(config, w);
    w.deviation = outer;
  }
};

}  // namespace redco::layers
