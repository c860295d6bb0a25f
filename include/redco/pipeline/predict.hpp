#pragma once

#include <redco/pipeline/detail/pipeline_of.hpp>
#include <redco/pipeline/detail/stage.hpp>

#include <utility>

namespace redco {

/// Returns a pipeline of one function that makes results: `f(net, Batch const&)` returns one
/// element per example, in order.
///
/// Compile errors: P007 if a const `f` cannot be called; P004 for another result type. P004 appears
/// here if `f` is neither generic nor overloaded, else at the call.
template <class F>
constexpr auto predict(F f) {
  return detail::pipeline_of<detail::predict_stage>(std::move(f));
}

}  // namespace redco
