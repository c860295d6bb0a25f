#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/walk.hpp>

#include <redco/meta/fixed_string.hpp>

namespace redco {

/// `Layer` under a name: its parameters are called "Name.<leaf>".
template <fixed_string Name, layer Layer>
struct named {
  using layer_concept = layer_tag;
  using alone = named<Name, alone_t<Layer>>;
  static constexpr bool featurewise = is_featurewise<Layer>;
  static constexpr bool closes_split = redco::closes_split<Layer>;

  template <class X>
  using out = out_t<Layer, X>;

  template <class X, class Config, class Walk>
  static constexpr void facts(Config const& config, Walk& w) {
    w.inside(Name.view(), [&] { Layer::template facts<X>(config, w); });
  }
};

}  // namespace redco
