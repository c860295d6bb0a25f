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

/// Returns the part of predict's result that belongs to example `i` of the batch.
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

/// A placeholder for the prediction of one example if the pipeline has no predict.
template <class Pipeline>
struct no_prediction {};

/// The type of one example's prediction by a pipeline.
template <class Pipeline, class Net, class Example>
struct prediction {
  using type = no_prediction<std::remove_const_t<Pipeline>>;
};
template <class Pipeline, class Net, class Example>
requires Pipeline::has_predict struct prediction<Pipeline, Net, Example> {
  using batch = batch_of<Pipeline, Example>;
  using result = std::remove_cvref_t<decltype(std::declval<Pipeline const&>().predict(std::declval<Net const&>(),
                                                                                      std::declval<batch const&>()))>;
  using type = decltype(element_of(std::declval<result const&>(), 0));
};

}  // namespace redco::run

namespace redco::detail {

/// A hook for pipelines without predict: constructing it from any function reports the missing
/// predict as a compile error.
template <class Function, class Pipeline>
struct hook_for<Function, run::no_prediction<Pipeline>> {
  struct type {
    type() = default;
    template <class F>
      requires(!std::is_same_v<std::remove_cvref_t<F>, type>)
    type(F&&) { lacks_function<Pipeline>(); }
  };
};

}  // namespace redco::detail
