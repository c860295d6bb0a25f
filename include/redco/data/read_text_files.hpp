#pragma once

#include <redco/diag/error.hpp>

#include <span>
#include <string>
#include <vector>

namespace redco {

/// The path and the text of a file, as bytes.
struct text_file {
  std::string path;
  std::string text;
};

/// Reads files and folders in the order given; a folder's files are sorted by path. `extensions`
/// (such as ".hpp"; empty for all) selects files in folders. Links to folders are not followed;
/// empty files in folders and UTF-8 byte order marks are left out. `invalid`: share of a file's
/// bytes, 0 to 1, that may be NUL or invalid UTF-8 (option --invalid-utf8). Throws `error` with
/// exit code 65 if there is no path, or for a path that is missing, unreadable, empty, compressed,
/// UTF-16, too invalid, or neither file nor folder.
std::vector<text_file> read_text_files(std::span<std::string const> paths, std::span<std::string const> extensions = {},
                                       double invalid = 0);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/data/read_text_files.inl.hpp>
#endif
