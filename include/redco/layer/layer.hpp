#pragma once

#include <redco/shape/layout.hpp>

#include <type_traits>

namespace redco {

/// Names a type as a layer that is made of others: `using layer_concept = redco::layer_tag;`. It declares them, see `parts`.
struct layer_tag {};

/// Names a type as a layer that is made of no others: `using layer_concept = redco::leaf_tag;`.
struct leaf_tag : layer_tag {};

/// A layer type: it swears by `layer_concept`, says in `out<X>` which layout it gives for an input of layout X, and states
/// its facts in `facts<X>(config, recorder)`. It knows no mesh and no tensor; what it computes is its `module` in nn/.
template <class L>
concept layer = std::is_base_of_v<layer_tag, typename L::layer_concept>;

/// The layout that L gives for an input of layout X.
template <layer L, class X>
using out_t = typename L::template out<X>;

/// What is left of a layout once pending sums are reduced: where tokens are split, each rank gets the sum of its own.
template <class X, class Home = replicated>
using finished_t = std::conditional_t<std::is_same_v<X, partial>, Home, X>;

/// The layout into which sums are finished that pend behind a value of layout X: X where it is complete, else that of `Before`.
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

/// L where no row-parallel partner follows: a layer that would open a split names its replicated twin in `unpaired`.
template <layer L>
using unpaired_t = typename detail::unpaired<L>::type;

/// A layer that acts on each feature by itself, so a split passes through it.
template <class L>
inline constexpr bool is_featurewise = requires {
  requires L::featurewise;
};

/// A layer that calls parameters just "weight" or "bias": where it stands in a sequence without a name, its place is its name.
template <class L>
inline constexpr bool is_unnamed = requires {
  requires L::unnamed;
};

/// A layer that takes a replicated input into a split by itself, and what has entered as it is.
template <class L>
inline constexpr bool enters = requires {
  requires L::enters;
};

/// A layer that can take a split input and close it.
template <class L>
inline constexpr bool closes_split = requires {
  requires L::closes_split;
};

}  // namespace redco
