#pragma once

#include <redco/json/value.hpp>

#include <redco/tensor/torch.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace redco::run {

/// What outputs files hold of an example or a prediction: strings, numbers, tensors as nested lists, ranges of these;
/// of anything else the sentence that it is not shown.
template <class T>
json::json_value json_of(T const& value) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    if (value.dim() == 0) {
      return at::isIntegralType(value.scalar_type(), true) ? json::json_value(value.template item<std::int64_t>())
                                                           : json::json_value(value.template item<double>());
    }
    json::json_value list = json::json_value::array();
    for (std::int64_t i = 0; i < value.size(0); ++i) list.push_back(json_of<at::Tensor>(value[i]));
    return list;
  } else if constexpr (std::is_arithmetic_v<T> || std::convertible_to<T, std::string>) {
    return json::json_value(value);
  } else if constexpr (requires { value.begin() != value.end(); }) {
    json::json_value list = json::json_value::array();
    for (auto const& item : value) list.push_back(json_of(item));
    return list;
  } else {
    return "(not shown)";
  }
}

/// What an outputs file holds: [{"example": ..., "output": ...}, ...]. Requires as many outputs as examples.
template <class Examples, class Outputs>
json::json_value json_of_pairs(Examples const& examples, Outputs const& outputs) {
  json::json_value list = json::json_value::array();
  for (std::size_t i = 0; i < outputs.size(); ++i)
    list.push_back({{"example", json_of(examples[i])}, {"output", json_of(outputs[i])}});
  return list;
}

}  // namespace redco::run
