#pragma once

#include <redco/pipeline/any_pipeline.hpp>

#include <type_traits>

namespace redco::pipelines {

/// Concept of a pipeline that can train: it has collate and loss functions. Training with another
/// pipeline is the compile error redco[P006].
template <class T>
concept training_pipeline = any_pipeline<T> && std::remove_cvref_t<T>::has_collate && std::remove_cvref_t<T>::has_loss;

}  // namespace redco::pipelines
