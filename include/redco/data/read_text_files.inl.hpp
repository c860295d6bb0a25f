#pragma once

#include <redco/data/read_text_files.hpp>

#include <redco/data/detail/text_on_disk.hpp>
#include <redco/config.hpp>

#include <filesystem>
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

}  // namespace redco
