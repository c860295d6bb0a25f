#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace redco::pipelines {

/// True if a loss function may return `T`. Specialised in tensor/ for mean, terms and scalar
/// tensors, because this header does not include tensors.
template <class T>
inline constexpr bool enable_loss = false;

/// Concept of a type that a loss function may return, such as `mean`.
template <class T>
concept loss_value = enable_loss<std::remove_cvref_t<T>>;

/// True if a `T` holds one element per example although it is no sized range. Specialised in
/// tensor/ for tensors, whose first dimension counts the examples.
template <class T>
inline constexpr bool enable_per_example = false;

}  // namespace redco::pipelines

namespace redco {

/// Concept of a type that a predict function may return: one with begin, end and size, or one for
/// which enable_per_example is true.
template <class T>
concept per_example = pipelines::enable_per_example<std::remove_cvref_t<T>> ||
    requires(std::remove_cvref_t<T> const& t) {
  t.begin();
  t.end();
  { t.size() } -> std::convertible_to<std::size_t>;
};

}  // namespace redco
