#pragma once

#include <concepts>
#include <type_traits>

namespace redco::pipelines {

/// True if a loss function may return `T`. Specialised in tensor/ for mean, terms and scalar
/// tensors, because this header does not include tensors.
template <class T>
inline constexpr bool enable_loss = false;

/// Concept of a type that a loss function may return, such as `mean`.
template <class T>
concept loss_value = enable_loss<std::remove_cvref_t<T>>;

}  // namespace redco::pipelines
