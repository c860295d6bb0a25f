#pragma once

#include <redco/pipeline/detail/pipeline_of.hpp>
#include <redco/pipeline/detail/stage.hpp>

#include <utility>

namespace redco {

/// Returns a pipeline of one function that makes a batch, any aggregate, of one rank's examples of
/// one micro-batch. Calls `f(std::span<Example const>)`, or `f(std::span<Example const>,
/// collate_info const&)` if `f` takes two arguments.
///
/// Compile errors: P007 if a const `f` cannot be called; P009 if `f` returns nothing. P009 appears
/// here if `f` is neither generic nor overloaded, else at the call.
template <class F>
constexpr auto collate(F f) {
  return detail::pipeline_of<detail::collate_stage>(std::move(f));
}

}  // namespace redco
