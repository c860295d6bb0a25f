#pragma once

#include <redco/data/read_text_files.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <vector>

namespace redco {

/// A text in two parts that share no byte: one for training, one for evaluation.
struct text_split {
  std::vector<text_file> train;
  std::vector<text_file> held_out;
};

/// Holds out at least one file: every `every`-th, beginning with index min(every, files) / 2. From
/// a single file, holds out the last 1 / every of its bytes, rounded up. Equal lists give equal
/// splits. Throws `error` with exit code 65 if one part would be empty. Requires every >= 2.
text_split hold_out(std::vector<text_file> files, std::int64_t every = 20);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/data/hold_out.inl.hpp>
#endif
