#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/pipeline/pipeline.hpp>
#include <redco/json/value_fwd.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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

namespace redco::run {

/// A JSON value of an example or a prediction, for outputs_epoch<i>.json. It holds a pointer to an
/// incomplete type, so that users' code needs no JSON header.
struct shown {
  std::shared_ptr<json::json_value const> value;
};

shown shown_value(bool value);
shown shown_value(std::int64_t value);
shown shown_value(std::uint64_t value);
shown shown_value(double value);
shown shown_value(std::string const& value);
shown shown_value(std::vector<shown> const& list);
/// Converts a tensor to JSON: a number for a scalar, else nested lists.
inline shown shown_value(at::Tensor const& x) {
  if (x.dim() == 0)
    return at::isIntegralType(x.scalar_type(), true) ? shown_value(x.item<std::int64_t>())
                                                     : shown_value(x.item<double>());
  std::vector<shown> list;
  for (std::int64_t i = 0; i < x.size(0); ++i) list.push_back(shown_value(x[i]));
  return shown_value(list);
}

/// Converts strings, numbers, tensors and ranges of them to JSON; other types become the text "(not
/// shown)".
template <class T>
shown shown_of(T const& value) {
  if constexpr (std::is_same_v<T, at::Tensor> || std::is_same_v<T, bool>) {
    return shown_value(value);
  } else if constexpr (std::floating_point<T>) {
    return shown_value(static_cast<double>(value));
  } else if constexpr (std::unsigned_integral<T>) {
    return shown_value(static_cast<std::uint64_t>(value));
  } else if constexpr (std::integral<T>) {
    return shown_value(static_cast<std::int64_t>(value));
  } else if constexpr (std::convertible_to<T const&, std::string>) {
    return shown_value(std::string(value));
  } else if constexpr (requires { value.begin() != value.end(); }) {
    std::vector<shown> list;
    for (auto const& item : value) list.push_back(shown_of(item));
    return shown_value(list);
  } else {
    return shown_value(std::string("(not shown)"));
  }
}

/// Returns the JSON list [{"example": ..., "output": ...}, ...] for outputs_epoch<i>.json. Requires
/// one example per output.
shown shown_pairs(std::vector<shown> const& examples, std::vector<shown> const& outputs);
template <class Examples, class Outputs>
shown shown_pairs_of(Examples const& examples, Outputs const& outputs) {
  std::vector<shown> first, second;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    first.push_back(shown_of(examples[i]));
    second.push_back(shown_of(outputs[i]));
  }
  return shown_pairs(first, second);
}

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/prediction.inl.hpp>
#endif
