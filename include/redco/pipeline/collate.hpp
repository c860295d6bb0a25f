#pragma once

#include <redco/pipeline/detail/pipeline_of.hpp>
#include <redco/pipeline/detail/stage.hpp>

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
  return detail::pipeline_of<detail::collate_stage>(std::move(f));
}

}  // namespace redco
