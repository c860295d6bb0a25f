#pragma once

#include <redco/data/text_file.hpp>

#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
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
inline text_split hold_out(std::vector<text_file> files, std::int64_t every = 20) {
  text_split split;
  auto const period = static_cast<std::size_t>(every);
  if (files.size() == 1) {
    text_file& only = files.front();
    std::size_t const cut = only.text.size() - (only.text.size() + period - 1) / period;
    split.held_out.push_back({only.path, only.text.substr(cut)});
    only.text.resize(cut);
    if (cut > 0) split.train.push_back(std::move(only));
  } else {
    std::size_t const place = std::min(period, files.size()) / 2;
    for (std::size_t i = 0; i < files.size(); ++i)
      (i % period == place ? split.held_out : split.train).push_back(std::move(files[i]));
  }
  if (split.train.empty() || split.held_out.empty())
    throw error(exit_code::data, "the text (" + std::to_string(files.size()) +
                                     " files) is too short to hold out a part of it: give more text");
  return split;
}

}  // namespace redco
