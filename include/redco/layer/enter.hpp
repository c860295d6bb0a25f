#pragma once

#include <redco/layer/layer.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/recorder.hpp>

#include <type_traits>

namespace redco::layers::detail {

template <class X>
struct enter_out {
  using type = shape::entered;
  static_assert(
      shape::is_at_rest<X>,
      "redco[S008]: only a replicated value can enter a column-parallel layer; reduce or gather the value first");
};

}  // namespace redco::layers::detail

namespace redco::layers {

/// A layer that returns its input unchanged and sums its gradient over the ranks in backward. Use
/// it between a replicated activation and layers declared column-parallel. Layers whose cut is
/// automatic do it by themselves.
struct enter_layer {
  using layer_concept = leaf_tag;

  template <class X>
  using out = typename detail::enter_out<X>::type;

  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    fact::detail::enter_facts<X>(w);
  }
};

}  // namespace redco::layers
