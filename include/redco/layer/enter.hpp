#pragma once

#include <redco/layer/layer.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/recorder.hpp>

#include <type_traits>

namespace redco {

namespace detail {

template <class X>
struct enter_out {
  using type = entered;
  static_assert(
      is_at_rest<X>,
      "redco[S008]: only a replicated value can enter a column-parallel layer; reduce or gather the value first");
};

}  // namespace detail

/// The identity whose gradient is summed over the ranks: what stands between a replicated activation and the column-parallel
/// layers that read it. Layers with automatic cuts enter by themselves.
struct enter_layer {
  using layer_concept = leaf_tag;

  template <class X>
  using out = typename detail::enter_out<X>::type;

  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    fact::detail::enter_facts<X>(w);
  }
};

}  // namespace redco
