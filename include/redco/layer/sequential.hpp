#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/numbered.hpp>
#include <redco/layer/settle.hpp>
#include <redco/layer/walk.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace redco {

namespace detail {

/// Whether a split opened before `Rest...` is closed by it: featurewise layers pass it on, a layer that closes it ends it.
template <class... Rest>
inline constexpr bool split_is_closed = false;
template <class First, class... Rest>
inline constexpr bool split_is_closed<First, Rest...> =
    closes_split<First> || (is_featurewise<First> && split_is_closed<Rest...>);

/// Whether the first layer, cut as a replicated input has it, enters by itself.
template <class... Layers>
inline constexpr bool first_enters = false;
template <class First, class... Rest>
inline constexpr bool first_enters<First, Rest...> =
    enters<std::conditional_t<split_is_closed<Rest...>, First, alone_t<First>>>;

/// The layers of a sequence with their cuts decided, each with the layout it receives.
template <class Layer, class X>
struct link {
  using layer = Layer;
  using input = X;
};
template <class... Links>
struct chain {};

template <class X, class Done, class... Rest>
struct resolve_chain;
template <class X, class... Done>
struct resolve_chain<X, chain<Done...>> {
  using links = chain<Done...>;
  using out = X;
};
template <class X, class... Done, class First, class... Rest>
struct resolve_chain<X, chain<Done...>, First, Rest...> {
  using input = settled_t<X>;
  static constexpr bool opens = std::is_same_v<input, replicated> && !split_is_closed<Rest...>;
  using chosen = numbered<sizeof...(Done), std::conditional_t<opens, alone_t<First>, First>>;
  // Asked before an alias asks: a failed check inside an alias takes the alias away on clang, and more errors follow.
  static_assert(sizeof(out_t<chosen, input>) > 0);
  using next = resolve_chain<out_t<chosen, input>, chain<Done..., link<chosen, input>>, Rest...>;
  using links = typename next::links;
  using out = typename next::out;
};

}  // namespace detail

/// Layers one after another. A pending sum between two of them is reduced; the last one's is handed on, so that parallel
/// branches can share one reduction. Here the data flow decides the cuts: an automatic linear opens a split only where a
/// later layer closes it. A layer without a name is named by its place.
template <layer... Layers>
struct sequential {
  using layer_concept = layer_tag;
  static constexpr bool unnamed = (is_unnamed<Layers> || ...);
  static constexpr bool featurewise = (is_featurewise<Layers> && ...);
  static constexpr bool closes_split = detail::split_is_closed<Layers...>;
  static constexpr bool enters = detail::first_enters<Layers...>;

  template <class X>
  using links = typename detail::resolve_chain<X, detail::chain<>, Layers...>::links;
  template <class X>
  using out = typename detail::resolve_chain<X, detail::chain<>, Layers...>::out;

  template <class X, class Config, class Walk>
  static constexpr void facts(Config const& config, Walk& w) {
    walk_links<X>(config, w, links<X>{});
  }

 private:
  template <class X, class Config, class Walk, class... Links>
  static constexpr void walk_links(Config const& config, Walk& w, detail::chain<Links...>) {
    int index = 0;
    int const expand[] = {0, (walk_link<Links>(config, w, index++ + 1 == sizeof...(Links)), 0)...};
    static_cast<void>(expand);
  }

  template <class Link, class Config, class Walk>
  static constexpr void walk_link(Config const& config, Walk& w, bool last) {
    using L = typename Link::layer;
    using X = typename Link::input;
    L::template facts<X>(config, w);
    if (!last) detail::settle_facts<out_t<L, X>>(w);
  }
};

}  // namespace redco
