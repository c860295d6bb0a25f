#pragma once

#include <redco/data/read_text_files.hpp>

#include <redco/data/detail/text_on_disk.hpp>
#include <redco/config.hpp>

#include <filesystem>
#include <string_view>
#include <utility>

namespace redco {

REDCO_INLINE std::vector<data::text_file> read_text_files(std::span<std::string const> paths,
                                                          std::span<std::string const> extensions, double invalid) {
  if (paths.empty()) throw error(exit_code::data, "no text was given: name at least one file or folder");
  std::vector<data::text_file> files;
  for (std::string const& path : paths)
    data::detail::each_text_file(path, extensions, [&](std::filesystem::path const& file) {
      std::string text = data::detail::read_text(file, invalid);
      if (text.empty()) return false;
      files.push_back({file.string(), std::move(text)});
      return true;
    });
  return files;
}

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
