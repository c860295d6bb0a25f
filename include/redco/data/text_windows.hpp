#pragma once

#include <redco/data/text_file.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco {

/// Examples for byte-level language modelling: windows of `context` + 1 bytes, each beginning at the byte where the one
/// before ended, so that every byte but the first of a file is predicted exactly once. The last window of a file is
/// what is left, at least two bytes. No window spans two files. Throws error 65 when there is no window at all: every
/// file is shorter than two bytes. Requires context >= 1.
inline std::vector<std::string> text_windows(std::span<text_file const> files, std::int64_t context) {
  auto const stride = static_cast<std::size_t>(context);
  std::vector<std::string> windows;
  for (text_file const& file : files)
    for (std::size_t begin = 0; begin + 1 < file.text.size(); begin += stride)
      windows.push_back(file.text.substr(begin, stride + 1));
  if (windows.empty())
    throw error(exit_code::data, "the text has no two bytes in a row to predict one from the other" +
                                     (files.empty() ? std::string(": no file") : ": see " + files.front().path));
  return windows;
}

}  // namespace redco
