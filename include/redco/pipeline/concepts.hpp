#pragma once

#include <redco/pipeline/pipeline.hpp>

#include <type_traits>

namespace redco {

namespace detail {

template <class T>
inline constexpr bool is_pipeline = false;
template <class... Stage>
inline constexpr bool is_pipeline<pipeline<Stage...>> = true;

}  // namespace detail

/// Satisfied by what `collate`, `loss`, `predict` and `|` return, unless an error was printed.
template <class T>
concept a_pipeline = detail::is_pipeline<std::remove_cvref_t<T>>;

/// Satisfied by pipelines that can train.
template <class T>
concept training_pipeline = a_pipeline<T> && std::remove_cvref_t<T>::has_collate && std::remove_cvref_t<T>::has_loss;

/// Satisfied by pipelines that can predict.
template <class T>
concept predicting_pipeline =
    a_pipeline<T> && std::remove_cvref_t<T>::has_collate && std::remove_cvref_t<T>::has_predict;

}  // namespace redco
