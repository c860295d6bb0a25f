#pragma once

#include <redco/layer/forwarding.hpp>
#include <redco/layer/layer.hpp>
#include <redco/fact/recorder.hpp>

#include <redco/meta/fixed_string.hpp>

namespace redco {

/// A wrapper that gives a layer a name: the parameters of `Layer` become "Name.weight", "Name.bias"
/// and so on.
template <meta::fixed_string Name, layer Layer>
struct named : layers::detail::forwarding<Layer> {
  using subs = layers::parts<layers::part<Name, Layer>>;
  template <class Other>
  using rebind = named<Name, Other>;
  using unpaired = named<Name, layers::unpaired_t<Layer>>;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    w.inside(Name.view(), [&] { Layer::template facts<X>(config, w); });
  }
};

}  // namespace redco
