#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace redco::data {

/// The examples of a data set in two lists: one for training, one for evaluation.
template <class Example>
struct example_split {
  std::vector<Example> train;
  std::vector<Example> held_out;
};

/// Splits examples into training and evaluation data. Holds out the last one of each `every`
/// consecutive examples for evaluation; `every` 0 holds out none.
template <class Example>
example_split<Example> hold_out_every(std::vector<Example> all, std::int64_t every) {
  example_split<Example> split;
  std::int64_t place = 0;
  for (Example& one : all) (every > 0 && ++place % every == 0 ? split.held_out : split.train).push_back(std::move(one));
  return split;
}

}  // namespace redco::data
