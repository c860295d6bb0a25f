#pragma once

#include <redco/shape/layout.hpp>

#include <cstdint>
#include <type_traits>

namespace redco::layers {

/// A tag that marks a type as a layer made of other layers: write `using layer_concept =
/// redco::layers::layer_tag;` in the type. Such a layer lists its inner layers in `subs`.
struct layer_tag {};

/// A tag that marks a type as a layer without inner layers: write `using layer_concept =
/// redco::layers::leaf_tag;` in the type.
struct leaf_tag : layer_tag {};

}  // namespace redco::layers

namespace redco {

/// Concept of a layer type: a type with a member `layer_concept`, a template `out<X>` (its output
/// layout for input layout X) and a function `facts<X>(config, recorder)`. `facts` declares
/// parameters, saved tensors and messages. A layer type knows neither mesh nor tensors; the class
/// `module` computes it.
template <class L>
concept layer = std::is_base_of_v<layers::layer_tag, typename L::layer_concept>;

}  // namespace redco

namespace redco::layers {

/// Output layout (distribution over ranks) of layer type L for an input of layout X.
template <layer L, class X>
using out_t = typename L::template out<X>;

/// Layout of a value of layout X after a pending sum is reduced: `Home` if X is a pending sum,
/// otherwise X. `Home` is replicated or token_split. With token_split, each rank gets the sum of
/// its own tokens.
template <class X, class Home = shape::replicated>
using finished_t = std::conditional_t<std::is_same_v<X, shape::partial>, Home, X>;

/// Layout to which a sequence reduces the next pending sum after a value of layout X. It is X
/// itself if X is replicated or token_split. Otherwise it is `Before`, the corresponding layout
/// before this value.
template <class X, class Before = shape::replicated>
using reduction_layout_t = std::conditional_t<shape::is_complete<X>, X, Before>;

}  // namespace redco::layers

namespace redco::layers::detail {

template <class L>
struct unpaired {
  using type = L;
};
template <class L>
  requires requires { typename L::unpaired; }
struct unpaired<L> {
  using type = typename L::unpaired;
};

}  // namespace redco::layers::detail

namespace redco::layers {

/// Layer type that replaces L if no row-parallel layer follows, so that splitting L would cost a
/// gather. The replacement is `L::unpaired`, a replicated form of L, or L itself if it has none.
template <layer L>
using unpaired_t = typename detail::unpaired<L>::type;

/// True for a layer type that acts on each feature independently, so that its input and output may
/// be split by features.
template <class L>
inline constexpr bool is_featurewise = requires {
  requires L::featurewise;
};

/// True for a layer type whose module computes a rank's part of the tokens of a sequence like the
/// same tokens of the whole sequence. The mesh axis cp needs it of all leaves of a model.
template <class L>
inline constexpr bool is_by_token = requires {
  requires L::by_token;
};

/// True for a layer type whose parameters are named just "weight" or "bias". A sequence or sum adds
/// the layer's index to such names ("0.weight").
template <class L>
inline constexpr bool is_unnamed = requires {
  requires L::unnamed;
};

/// True for a layer type that accepts both an `entered` input and a replicated one. For a
/// replicated input it sums the input's gradient over the ranks by itself.
template <class L>
inline constexpr bool enters = requires {
  requires L::enters;
};

/// True for a layer type that accepts an input split by features and does not return a split one,
/// such as a row-parallel layer.
template <class L>
inline constexpr bool closes_split = requires {
  requires L::closes_split;
};

}  // namespace redco::layers

namespace redco::layers::detail {

/// Requirements of a layer on the layout of its input. `value`: any layout except a pending sum;
/// `whole`: replicated or entered; `alike`: replicated; `features`: replicated, entered or split by
/// tokens; `features_alike`: replicated or split by tokens.
enum class needs : std::uint8_t { value, whole, alike, features, features_alike };

/// A check of a layer's input layout X against its requirement `Need`. The member `type` is the
/// layer's output layout `Out`. Compile errors: redco[S005] for a pending sum; redco[S008] for a
/// split or an entered value that `Need` does not allow.
template <needs Need, class X, class Out>
struct takes {
  using type = Out;
  static_assert(!std::is_same_v<X, shape::partial>,
                "redco[S005]: a partial value is used as replicated; reduce it before this layer");
  static constexpr bool any_tokens = Need == needs::features || Need == needs::features_alike;
  static_assert(Need == needs::value || !shape::is_split<X> || (shape::is_token_split<X> && any_tokens),
                "redco[S008]: this layer needs all features but its input is split; close the split before it");
  static_assert(
      (Need != needs::alike && Need != needs::features_alike) || !std::is_same_v<X, shape::entered>,
      "redco[S008]: only a column-parallel layer takes an entered value; leave enter out before a replicated layer");
};

}  // namespace redco::layers::detail
