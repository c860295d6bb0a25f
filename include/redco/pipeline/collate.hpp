#pragma once

#include <redco/pipeline/detail/pipeline_of.hpp>
#include <redco/pipeline/detail/stage.hpp>

#include <utility>

namespace redco {

/// Makes a pipeline with a collate function: `f(std::span<Example const>)` or `f(std::span<Example
/// const>, collate_info const&)`. `f` makes a batch, any aggregate, from the examples of one rank's
/// micro-batch.
///
/// Compile errors: P007 if a const `f` cannot be called; P009 if `f` returns nothing. If `f` is
/// generic or overloaded, P009 appears only when the pipeline calls it.
template <class F>
constexpr auto collate(F f) {
  return pipelines::detail::pipeline_of<pipelines::detail::collate_stage>(std::move(f));
}

}  // namespace redco
