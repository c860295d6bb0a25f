#pragma once

#include <redco/pipeline/detail/accepts.hpp>
#include <redco/pipeline/detail/stage.hpp>
#include <redco/pipeline/pipeline.hpp>

#include <redco/diag/blame.hpp>
#include <redco/meta/tuple.hpp>

#include <utility>

namespace redco::pipelines::detail {

/// Makes a pipeline with the single function `f`; `Kind` is its purpose (collate, loss or predict).
/// Checks that a const `f` can be called and, if `f` is not generic, that its result type is
/// allowed.
template <template <class> class Kind, class F>
constexpr auto pipeline_of(F f) {
  if constexpr (!check_const<F>()) {
    return pipeline_of<Kind>(refused_function<named_or<F, diag::ill_formed>>());
  } else {
    using stage = Kind<F>;
    static_cast<void>(stage::check_named_result());
    return pipeline<stage>(meta::hana::basic_tuple<stage>{stage{std::move(f)}});
  }
}

}  // namespace redco::pipelines::detail
