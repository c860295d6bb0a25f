#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/parts.hpp>

namespace redco::detail {

/// A base of layers that wrap `Layer`, such as a name or other initial values: layouts, parts and
/// cut traits are those of `Layer`.
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
