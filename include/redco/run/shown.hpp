#pragma once

#include <redco/json/value_fwd.hpp>

#include <redco/tensor/torch.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

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
shown shown_value(at::Tensor const& x);

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
#include <redco/run/shown.inl.hpp>
#endif
