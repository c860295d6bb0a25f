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

/// One element per example of what predict returned.
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

/// What a pipeline without predict gives for one example.
template <class Pipeline>
struct no_prediction {};

/// What predict gives for one example.
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

/// What would see predictions of a pipeline without predict: whoever gives one is told so.
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
