#pragma once

#include <redco/pipeline/detail/stage.hpp>
#include <redco/pipeline/pipeline.hpp>

#include <redco/diag/blame.hpp>
#include <redco/meta/tuple.hpp>

#include <utility>

namespace redco {

/// The first function of a pipeline: it makes a batch, any aggregate, of the examples of one rank and one micro-batch.
/// `f` is called as `f(std::span<Example const>)`, or as `f(std::span<Example const>, collate_info const&)` if it takes
/// two arguments.
///
/// Errors: P007 if a const `f` cannot be called; P009 if it returns nothing, here if `f` names its
/// types, else when called.
template <class F>
constexpr auto collate(F f) {
  if constexpr (!detail::check_const<F>()) {
    return diag::ill_formed{};
  } else if constexpr (!detail::check_batch<detail::named_or<F, detail::any_batch>>()) {
    return diag::ill_formed{};
  } else {
    using stage = detail::collate_stage<F>;
    return pipeline<stage>(hana::basic_tuple<stage>{stage{std::move(f)}});
  }
}

}  // namespace redco
