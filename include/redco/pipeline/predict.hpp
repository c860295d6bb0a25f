#pragma once

#include <redco/pipeline/detail/pipeline_of.hpp>
#include <redco/pipeline/detail/stage.hpp>

#include <utility>

namespace redco {

/// Makes a pipeline with a predict function: `f(net, Batch const&)` returns one element per
/// example, in order.
///
/// Compile errors: P007 if a const `f` cannot be called; P004 for another result type. If `f` is
/// generic or overloaded, P004 appears only when the pipeline calls it.
template <class F>
constexpr auto predict(F f) {
  return pipelines::detail::pipeline_of<pipelines::detail::predict_stage>(std::move(f));
}

}  // namespace redco
