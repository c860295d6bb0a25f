#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/walk.hpp>

#include <type_traits>

namespace redco {

namespace detail {

template <class X>
struct enter_out {
  using type = entered;
  static_assert(std::is_same_v<X, replicated>,
                "redco[S008]: only a replicated value can enter a column-parallel layer; reduce or gather the value first");
};

}  // namespace detail

/// The identity whose gradient is summed over the ranks: what stands between a whole activation and the column-parallel
/// layers that read it. Layers with automatic cuts enter by themselves.
struct enter_layer {
  using layer_concept = layer_tag;

  template <class X>
  using out = typename detail::enter_out<X>::type;

  template <class X, class Config, class Walk>
  static constexpr void facts(Config const&, Walk& w) {
    w.enter(w.activation);
  }
};

}  // namespace redco
