#pragma once

#include <redco/data/read_texts.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace redco::data {

/// Texts of a data set in two lists that share no byte: one for training, one for evaluation.
struct text_split {
  std::vector<text_file> train;
  std::vector<text_file> held_out;
};

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
  std::int64_t index = 0;
  for (Example& one : all) (every > 0 && ++index % every == 0 ? split.held_out : split.train).push_back(std::move(one));
  return split;
}

}  // namespace redco::data

namespace redco {

/// Splits files into training and evaluation data. Holds out every `every`-th file for evaluation,
/// beginning with index min(every, files) / 2. If there is one file, holds out the last 1 / every
/// of its bytes, rounded up. Equal lists of files give equal splits. Throws `error` with exit code
/// 65 if one part would be empty. Requires every >= 2.
data::text_split hold_out(std::vector<data::text_file> files, std::int64_t every = 20);

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/hold_out.inl.hpp>
#endif
