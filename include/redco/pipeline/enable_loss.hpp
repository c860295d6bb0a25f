#pragma once

#include <concepts>
#include <type_traits>

namespace redco {

/// True if a loss function may return `T`. The pipeline knows no tensors: tensor/ sets it for mean,
/// terms and scalars.
template <class T>
inline constexpr bool enable_loss = false;

/// A type that a loss function may return.
template <class T>
concept loss_value = enable_loss<std::remove_cvref_t<T>>;

}  // namespace redco
