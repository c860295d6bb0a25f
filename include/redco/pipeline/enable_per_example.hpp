#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace redco {

/// Whether a value of type T holds one element per example though it is no sized range: tensor/ says true for tensors,
/// whose first dimension counts the examples.
template <class T>
inline constexpr bool enable_per_example = false;

/// Satisfied by what a predict function returns: something with begin, end and size, or enabled.
template <class T>
concept per_example = enable_per_example<std::remove_cvref_t<T>> || requires(std::remove_cvref_t<T> const& t) {
  t.begin();
  t.end();
  { t.size() } -> std::convertible_to<std::size_t>;
};

}  // namespace redco
