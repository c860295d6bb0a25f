#pragma once

#include <redco/pipeline/pipeline.hpp>

#include <type_traits>

namespace redco::pipelines::detail {

template <class T>
inline constexpr bool is_pipeline = false;
template <class... Stage>
inline constexpr bool is_pipeline<pipeline<Stage...>> = true;

}  // namespace redco::pipelines::detail

namespace redco::pipelines {

/// Concept of a pipeline: a type that `collate`, `loss`, `predict` or operator| returns.
template <class T>
concept any_pipeline = detail::is_pipeline<std::remove_cvref_t<T>>;

}  // namespace redco::pipelines
