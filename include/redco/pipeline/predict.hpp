#pragma once

#include <redco/pipeline/detail/pipeline_of.hpp>
#include <redco/pipeline/detail/stage.hpp>

#include <utility>

namespace redco {

/// The function of a pipeline that gives results: `f(net, Batch const&)`, one element per example, in their order.
///
/// Errors: P007 if a const `f` cannot be called; P004 for another result, here if `f` names its types, else when
/// called.
template <class F>
constexpr auto predict(F f) {
  return detail::pipeline_of<detail::predict_stage>(std::move(f));
}

}  // namespace redco
