#pragma once

#include <redco/pipeline/detail/pipeline_of.hpp>
#include <redco/pipeline/detail/stage.hpp>

#include <utility>

namespace redco {

/// Makes a pipeline with a loss function to be minimised. `f(net, Batch const&)` returns a `mean`
/// (sum and count), `terms` (several losses) or a scalar tensor.
///
/// Compile errors: P007 if a const `f` cannot be called; P003 for another result type. If `f` is
/// generic or overloaded, P003 appears only when the pipeline calls it.
template <class F>
constexpr auto loss(F f) {
  return pipelines::detail::pipeline_of<pipelines::detail::loss_stage>(std::move(f));
}

}  // namespace redco
