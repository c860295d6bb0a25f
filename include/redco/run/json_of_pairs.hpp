#pragma once

#include <redco/run/json_of.hpp>

#include <cstddef>

namespace redco {

/// What an outputs file holds: [{"example": ..., "output": ...}, ...]. Requires as many outputs as examples.
template <class Examples, class Outputs>
json_value json_of_pairs(Examples const& examples, Outputs const& outputs) {
  json_value list = json_value::array();
  for (std::size_t i = 0; i < outputs.size(); ++i)
    list.push_back({{"example", json_of(examples[i])}, {"output", json_of(outputs[i])}});
  return list;
}

}  // namespace redco
