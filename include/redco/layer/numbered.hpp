#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/parts.hpp>

#include <redco/meta/fixed_string.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace redco {

namespace detail {

/// Returns the decimal digits of I as a fixed_string, for I below 1000.
template <std::size_t I>
constexpr auto digits() {
  static_assert(I < 1000, "a sequence of at most 1000 layers is numbered; nest them");
  if constexpr (I < 10) {
    return fixed_string({static_cast<char>('0' + I), '\0'});
  } else if constexpr (I < 100) {
    return fixed_string({static_cast<char>('0' + I / 10), static_cast<char>('0' + I % 10), '\0'});
  } else {
    return fixed_string({static_cast<char>('0' + I / 100), static_cast<char>('0' + I / 10 % 10),
                         static_cast<char>('0' + I % 10), '\0'});
  }
}

}  // namespace detail

/// Layer at index I of a sequence or sum. An unnamed layer is named by its index ("0.weight",
/// "2.weight"), as torch::nn::Sequential does; a named layer stays itself.
template <std::size_t I, layer Layer>
using numbered = std::conditional_t<is_unnamed<Layer>, named<detail::digits<I>(), Layer>, Layer>;

namespace detail {

template <class Places, layer... Layers>
struct parts_by_place;
template <std::size_t... I, layer... Layers>
struct parts_by_place<std::index_sequence<I...>, Layers...> {
  using type = parts<std::conditional_t<is_unnamed<Layers>, part<digits<I>(), Layers>, part<"", Layers>>...>;
};

/// Members of a sequence or sum as parts; unnamed members are named by their indices.
template <layer... Layers>
using numbered_parts = typename parts_by_place<std::index_sequence_for<Layers...>, Layers...>::type;

}  // namespace detail

}  // namespace redco
