#pragma once

#include <redco/diag/error.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace redco::data {

/// The path of a file and its text, as bytes.
struct text_file {
  std::string path;
  std::string text;
};

}  // namespace redco::data

namespace redco {

/// Reads files and folders in the given order; a folder's files are sorted by path. `extensions`
/// (such as ".hpp"; empty for all) selects files in folders. Does not follow links to folders.
/// Skips empty files in folders and UTF-8 byte order marks. `invalid`: share of a file's bytes, 0
/// to 1, that may be NUL or invalid UTF-8. Throws `error` with exit code 65 if there is no path.
/// Also throws it for a path that is missing, unreadable, empty, compressed, UTF-16 or neither file
/// nor folder, and for a file with more invalid bytes.
std::vector<data::text_file> read_text_files(std::span<std::string const> paths,
                                             std::span<std::string const> extensions = {}, double invalid = 0);

/// Cuts the text of each of `files` into windows of at most `context + 1` bytes, as examples for
/// byte-level language modelling. A window begins with the last byte of the window before, so that
/// every byte except a file's first is predicted exactly once. A window has at least two bytes of
/// one file. Throws `error` with exit code 65 if every file is shorter than two bytes. Requires
/// context >= 1.
inline std::vector<std::string> text_windows(std::span<data::text_file const> files, std::int64_t context) {
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

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/read_text_files.inl.hpp>
#endif
