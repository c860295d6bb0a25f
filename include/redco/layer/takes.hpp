#pragma once

#include <redco/shape/layout.hpp>

#include <cstdint>
#include <type_traits>

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
