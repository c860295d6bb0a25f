#pragma once

#include <redco/pipeline/detail/pipeline_of.hpp>
#include <redco/pipeline/detail/stage.hpp>

#include <utility>

namespace redco {

/// The function of a pipeline that is minimised: `f(net, Batch const&)` gives a mean, terms or a scalar.
///
/// Errors: P007 if a const `f` cannot be called; P003 for another result, here if `f` names its types, else when
/// called.
template <class F>
constexpr auto loss(F f) {
  return detail::pipeline_of<detail::loss_stage>(std::move(f));
}

}  // namespace redco
