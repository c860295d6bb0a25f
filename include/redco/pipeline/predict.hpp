#pragma once

#include <redco/pipeline/detail/stage.hpp>
#include <redco/pipeline/pipeline.hpp>

#include <redco/diag/blame.hpp>
#include <redco/meta/tuple.hpp>

#include <utility>

namespace redco {

/// The function of a pipeline that gives results: `f(net, Batch const&)`, one element per example, in their order.
///
/// Errors: P007 if a const `f` cannot be called; P004 for another result, here if `f` names its types, else when
/// called.
template <class F>
constexpr auto predict(F f) {
  if constexpr (!detail::check_const<F>()) {
    return diag::ill_formed{};
  } else if constexpr (!detail::check_predict_value<detail::named_or<F, detail::any_prediction>>()) {
    return diag::ill_formed{};
  } else {
    using stage = detail::predict_stage<F>;
    return pipeline<stage>(hana::basic_tuple<stage>{stage{std::move(f)}});
  }
}

}  // namespace redco
