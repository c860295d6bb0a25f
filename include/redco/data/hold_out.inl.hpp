#pragma once

#include <redco/data/hold_out.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace redco {

REDCO_INLINE data::text_split hold_out(std::vector<data::text_file> files, std::int64_t every) {
  data::text_split split;
  auto const period = static_cast<std::size_t>(every);
  if (files.size() == 1) {
    data::text_file& only = files.front();
    std::size_t const cut = only.text.size() - (only.text.size() + period - 1) / period;
    split.held_out.push_back({only.path, only.text.substr(cut)});
    only.text.resize(cut);
    if (cut > 0) split.train.push_back(std::move(only));
  } else {
    std::size_t const held_out_index = std::min(period, files.size()) / 2;
    for (std::size_t i = 0; i < files.size(); ++i)
      (i % period == held_out_index ? split.held_out : split.train).push_back(std::move(files[i]));
  }
  if (split.train.empty() || split.held_out.empty())
    throw error(exit_code::data, "the text (" + std::to_string(files.size()) +
                                     " files) is too short to hold out a part of it: give more text");
  return split;
}

}  // namespace redco
