#pragma once

#include <concepts>
#include <type_traits>

namespace redco {

/// Whether a loss function may return T. The pipeline knows no tensor: tensor/ says true for mean, terms and scalars.
template <class T>
inline constexpr bool enable_loss = false;

/// Satisfied by what a loss function returns.
template <class T>
concept loss_value = enable_loss<std::remove_cvref_t<T>>;

}  // namespace redco
