#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/parts.hpp>

#include <redco/meta/fixed_string.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace redco::layers::detail {

/// Returns the decimal digits of I, an index below 1000, as a compile-time string.
template <std::size_t I>
constexpr auto digits() {
  static_assert(I < 1000, "a sequence of at most 1000 layers is numbered; nest them");
  if constexpr (I < 10) {
    return meta::fixed_string({static_cast<char>('0' + I), '\0'});
  } else if constexpr (I < 100) {
    return meta::fixed_string({static_cast<char>('0' + I / 10), static_cast<char>('0' + I % 10), '\0'});
  } else {
    return meta::fixed_string({static_cast<char>('0' + I / 100), static_cast<char>('0' + I / 10 % 10),
                               static_cast<char>('0' + I % 10), '\0'});
  }
}

}  // namespace redco::layers::detail

namespace redco::layers {

/// Layer type for index I of a sequence or sum. If its parameters are named just "weight" or
/// "bias", the index is added ("0.weight", "2.weight"), as torch::nn::Sequential does. Otherwise it
/// is `Layer` itself.
template <std::size_t I, layer Layer>
using numbered = std::conditional_t<is_unnamed<Layer>, named<detail::digits<I>(), Layer>, Layer>;

}  // namespace redco::layers

namespace redco::layers::detail {

template <class Places, layer... Layers>
struct parts_by_place;
template <std::size_t... I, layer... Layers>
struct parts_by_place<std::index_sequence<I...>, Layers...> {
  using type = parts<std::conditional_t<is_unnamed<Layers>, part<digits<I>(), Layers>, part<"", Layers>>...>;
};

/// List (`parts`) of the inner layers of a sequence or sum. Layers without a name are named by
/// their index.
template <layer... Layers>
using numbered_parts = typename parts_by_place<std::index_sequence_for<Layers...>, Layers...>::type;

}  // namespace redco::layers::detail
