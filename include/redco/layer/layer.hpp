#pragma once

#include <redco/shape/layout.hpp>

#include <type_traits>

namespace redco {

/// A tag that declares a type to be a layer made of other layers:
/// `using layer_concept = redco::layer_tag;`. Such a layer declares its `parts`.
struct layer_tag {};

/// A tag that declares a type to be a layer without inner layers:
/// `using layer_concept = redco::leaf_tag;`.
struct leaf_tag : layer_tag {};

/// A layer type has a `layer_concept`, gives its output layout for an input of layout X as
/// `out<X>`, and states its facts in `facts<X>(config, recorder)`. It knows neither mesh nor
/// tensors; its `module` in nn/ computes it.
template <class L>
concept layer = std::is_base_of_v<layer_tag, typename L::layer_concept>;

/// Output layout of L for an input of layout X.
template <layer L, class X>
using out_t = typename L::template out<X>;

/// Layout after reductions: `Home` for a pending sum, X otherwise. If tokens are split (`Home`),
/// each rank gets the sum of its own tokens.
template <class X, class Home = replicated>
using finished_t = std::conditional_t<std::is_same_v<X, partial>, Home, X>;

/// Layout to which a pending sum after a value of layout X is reduced: X if X is complete
/// (replicated or split tokens), otherwise `Before`.
template <class X, class Before = replicated>
using home_t = std::conditional_t<is_at_rest<X>, X, Before>;

namespace detail {
template <class L>
struct unpaired {
  using type = L;
};
template <class L>
  requires requires { typename L::unpaired; }
struct unpaired<L> {
  using type = typename L::unpaired;
};
}  // namespace detail

/// Layer type to use for L if no row-parallel partner follows: its replicated twin `L::unpaired`,
/// or L itself if it has none.
template <layer L>
using unpaired_t = typename detail::unpaired<L>::type;

/// True for a layer that acts on each feature independently, so that a split passes through it.
template <class L>
inline constexpr bool is_featurewise = requires {
  requires L::featurewise;
};

/// True for a layer with parameters named just "weight" or "bias". In a sequence or sum, such a
/// layer is named by its index.
template <class L>
inline constexpr bool is_unnamed = requires {
  requires L::unnamed;
};

/// True for a layer that accepts both a replicated value, which it enters by itself, and an entered
/// value.
template <class L>
inline constexpr bool enters = requires {
  requires L::enters;
};

/// True for a layer that accepts a feature-split input and ends the split.
template <class L>
inline constexpr bool closes_split = requires {
  requires L::closes_split;
};

}  // namespace redco
