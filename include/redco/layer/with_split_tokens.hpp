#pragma once

#include <redco/layer/forwarding.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/split_tokens.hpp>
#include <redco/fact/recorder.hpp>

#include <type_traits>

namespace redco::layers {

/// A wrapper that splits the tokens over the ranks (layer `split_tokens`) before it runs `Body`. If
/// the tokens are split already, it only runs `Body`. Parameter names are Body's.
template <layer Body>
struct with_split_tokens : detail::forwarding<Body> {
  template <class Other>
  using rebind = with_split_tokens<Other>;
  static constexpr bool unnamed = is_unnamed<Body>;

  template <class X>
  using split = typename std::conditional_t<shape::is_token_split<X>, std::type_identity<X>,
                                            detail::takes<detail::needs::alike, X, shape::token_split>>::type;
  template <class X>
  using out = out_t<Body, split<X>>;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    if constexpr (!shape::is_token_split<X>) split_tokens::facts<X>(config, w);
    Body::template facts<split<X>>(config, w);
  }
};

}  // namespace redco::layers
