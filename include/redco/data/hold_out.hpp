#pragma once

#include <redco/data/read_text_files.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <vector>

namespace redco::data {

/// Texts of a data set in two lists that share no byte: one for training, one for evaluation.
struct text_split {
  std::vector<text_file> train;
  std::vector<text_file> held_out;
};

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
