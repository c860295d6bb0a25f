#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/walk.hpp>

#include <type_traits>

namespace redco {

namespace detail {

template <class X>
struct featurewise_out {
  using type = X;
  static_assert(!std::is_same_v<X, partial>,
                "redco[S005]: a partial value is used as replicated; reduce it before this layer");
};

}  // namespace detail

/// The base of layers that act on each feature by itself, keep their input, and let any layout but a pending sum through.
struct featurewise_layer {
  using layer_concept = layer_tag;
  static constexpr bool featurewise = true;

  template <class X>
  using out = typename detail::featurewise_out<X>::type;

  template <class X, class Config, class Walk>
  static constexpr void facts(Config const&, Walk& w) {
    w.keep("input");
    w.produce(w.activation.shape, w.activation.split_dim, w.activation.units);
  }
};

}  // namespace redco
