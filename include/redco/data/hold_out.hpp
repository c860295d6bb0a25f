#pragma once

#include <redco/data/read_text_files.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <vector>

namespace redco {

/// A text in two parts that share no byte: one to train on, one to measure.
struct text_split {
  std::vector<text_file> train;
  std::vector<text_file> held_out;
};

/// Holds out every `every`-th file, at least one: those whose place in the list is min(every, files) / 2 more than a
/// multiple of `every`. Of a single file it holds out the last part, 1 / every of the bytes rounded up. The same list
/// gives the same split. Throws error 65 when nothing would be left on one side. Requires every >= 2.
text_split hold_out(std::vector<text_file> files, std::int64_t every = 20);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/data/hold_out.inl.hpp>
#endif
