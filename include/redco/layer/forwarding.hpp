#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/parts.hpp>

namespace redco::layers::detail {

/// A base of layers that wrap another layer, for example to name it. Output layout, inner layers
/// and sharding properties are forwarded from the wrapped `Layer`.
template <layer Layer>
struct forwarding {
  using layer_concept = layer_tag;
  using subs = parts<part<"", Layer>>;
  static constexpr bool featurewise = is_featurewise<Layer>;
  static constexpr bool closes_split = layers::closes_split<Layer>;
  static constexpr bool enters = layers::enters<Layer>;

  template <class X>
  using out = out_t<Layer, X>;
};

}  // namespace redco::layers::detail
