#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/pipeline/batch_of.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

namespace redco::run {

/// Returns element `i` of a predict function's result: row `i` of a tensor, or element `i` of a
/// range.
template <class Result>
auto element_of(Result const& result, std::size_t i) {
  if constexpr (std::is_same_v<Result, at::Tensor>) {
    return result[static_cast<std::int64_t>(i)];
  } else {
    auto at = std::begin(result);
    std::advance(at, static_cast<std::ptrdiff_t>(i));
    return std::remove_cvref_t<decltype(*at)>(*at);
  }
}

template <class Result>
std::size_t elements_of(Result const& result) {
  if constexpr (std::is_same_v<Result, at::Tensor>) {
    return static_cast<std::size_t>(result.size(0));
  } else {
    return std::size(result);
  }
}

/// A placeholder for the type of a prediction if the pipeline has no predict function.
template <class Pipeline>
struct no_prediction {};

/// The type of one example's prediction by a pipeline: one element of the predict function's
/// result.
template <class Pipeline, class Net, class Example>
struct prediction {
  using type = no_prediction<std::remove_const_t<Pipeline>>;
};
template <class Pipeline, class Net, class Example>
requires Pipeline::has_predict struct prediction<Pipeline, Net, Example> {
  using batch = pipelines::batch_of<Pipeline, Example>;
  using result = std::remove_cvref_t<decltype(std::declval<Pipeline const&>().predict(std::declval<Net const&>(),
                                                                                      std::declval<batch const&>()))>;
  using type = decltype(element_of(std::declval<result const&>(), 0));
};

}  // namespace redco::run

namespace redco {

/// A placeholder for user functions that take predictions, if the pipeline has no predict function.
/// Constructing it from any function is a compile error that asks for a predict function.
template <class Function, class Pipeline>
struct options::detail::hook_for<Function, run::no_prediction<Pipeline>> {
  struct type {
    type() = default;
    template <class F>
      requires(!std::is_same_v<std::remove_cvref_t<F>, type>)
    type(F&&) { pipelines::detail::lacks_function<Pipeline>(); }
  };
};

}  // namespace redco
