#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/pipeline/batch_of.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>

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

/// What predict gives for one example: std::monostate where the pipeline has no predict.
template <class Pipeline, class Net, class Example>
struct prediction {
  using type = std::monostate;
};
template <class Pipeline, class Net, class Example>
requires Pipeline::has_predict struct prediction<Pipeline, Net, Example> {
  using batch = batch_of<Pipeline, Example>;
  using result = std::remove_cvref_t<decltype(std::declval<Pipeline const&>().predict(std::declval<Net const&>(),
                                                                                      std::declval<batch const&>()))>;
  using type = decltype(element_of(std::declval<result const&>(), 0));
};

}  // namespace redco::run
