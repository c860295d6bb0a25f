#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/numbered.hpp>
#include <redco/layer/numbered.hpp>
#include <redco/layer/walk.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace redco {

namespace detail {

template <class... Ys>
struct sum_out {
  static constexpr bool any_partial = (std::is_same_v<Ys, partial> || ...);
  static constexpr bool summable = ((std::is_same_v<Ys, partial> || std::is_same_v<Ys, replicated>) && ...);
  using type = std::conditional_t<any_partial, partial, replicated>;
  static_assert(summable, "redco[S008]: parallel branches give layouts that cannot be added; close each branch's split");
};

/// The branches with their cuts decided, under the names that their places give them.
template <class... Branches>
struct branch_list {};
template <class X, class Places, class... Branches>
struct resolve_branches;
template <class X, std::size_t... Place, class... Branches>
struct resolve_branches<X, std::index_sequence<Place...>, Branches...> {
  template <class B>
  using chosen = std::conditional_t<std::is_same_v<X, replicated>, alone_t<B>, B>;
  using links = branch_list<numbered<Place, chosen<Branches>>...>;
  using out = typename sum_out<out_t<chosen<Branches>, X>...>::type;
};

}  // namespace detail

/// Parallel branches of one input, added: Branch1(x) + Branch2(x) + ... Partial branches are added before the one
/// reduction that follows, replicated ones ride along as its addends. A branch without a name is named by its place.
template <layer... Branches>
struct sum {
  using layer_concept = layer_tag;
  static constexpr bool unnamed = (is_unnamed<Branches> || ...);

  template <class X>
  using resolved = detail::resolve_branches<X, std::index_sequence_for<Branches...>, Branches...>;
  template <class X>
  using links = typename resolved<X>::links;
  template <class X>
  using out = typename resolved<X>::out;

  template <class X, class Config, class Walk>
  static constexpr void facts(Config const& config, Walk& w) {
    walk_branches<X>(config, w, links<X>{});
    w.produce(w.activation.shape);
  }

 private:
  template <class X, class Config, class Walk, class... Links>
  static constexpr void walk_branches(Config const& config, Walk& w, detail::branch_list<Links...>) {
    flow const input = w.activation;
    ((w.activation = input, Links::template facts<X>(config, w)), ...);
  }
};

}  // namespace redco
