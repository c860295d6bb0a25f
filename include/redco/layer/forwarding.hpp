#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/parts.hpp>

namespace redco::detail {

/// What a layer that is another one under a name, or with other starting values, says alike: it takes, opens, closes
/// and gives what `Layer` does.
template <layer Layer>
struct forwarding {
  using layer_concept = layer_tag;
  using subs = parts<part<"", Layer>>;
  static constexpr bool featurewise = is_featurewise<Layer>;
  static constexpr bool closes_split = redco::closes_split<Layer>;
  static constexpr bool enters = redco::enters<Layer>;

  template <class X>
  using out = out_t<Layer, X>;
};

}  // namespace redco::detail
