#pragma once

#include <redco/data/text_windows.hpp>

#include <redco/config.hpp>

#include <string_view>

namespace redco {

REDCO_INLINE std::vector<std::string> text_windows(std::span<data::text_file const> files, std::int64_t context) {
  auto const stride = static_cast<std::size_t>(context);
  std::vector<std::string> windows;
  for (data::text_file const& file : files)
    for (std::size_t begin = 0; begin + 1 < file.text.size(); begin += stride)
      windows.push_back(file.text.substr(begin, stride + 1));
  if (windows.empty())
    throw error(exit_code::data, "the text has no two bytes in a row to predict one from the other" +
                                     (files.empty() ? std::string(": no file") : ": see " + files.front().path));
  return windows;
}

}  // namespace redco
