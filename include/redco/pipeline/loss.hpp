#pragma once

#include <redco/pipeline/detail/pipeline_of.hpp>
#include <redco/pipeline/detail/stage.hpp>

#include <utility>

namespace redco {

/// Returns a pipeline of one function that is minimised: `f(net, Batch const&)` returns a mean,
/// terms or a scalar.
///
/// Compile errors: P007 if a const `f` cannot be called; P003 for another result type. P003 appears
/// here if `f` is neither generic nor overloaded, else at the call.
template <class F>
constexpr auto loss(F f) {
  return detail::pipeline_of<detail::loss_stage>(std::move(f));
}

}  // namespace redco
