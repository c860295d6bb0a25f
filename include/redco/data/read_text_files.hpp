#pragma once

#include <redco/diag/error.hpp>

#include <span>
#include <string>
#include <vector>

namespace redco {

/// The path and all bytes of a file.
struct text_file {
  std::string path;
  std::string text;
};

/// Reads files and folders, in the order given. A folder stands for the files below it whose
/// extension is in `extensions` (".hpp"; none given: every file), sorted by path, those without
/// content left out; links to folders are not followed. A byte order mark of UTF-8 is left out.
/// `invalid` is the share of a file's bytes, 0 to 1, that may be NUL or no UTF-8; programs offer it
/// as --invalid-utf8.
/// Errors: exit code 65 naming the path that is missing, neither file nor folder, unreadable,
/// empty, a folder without text, compressed, UTF-16, or has more such bytes than `invalid` allows;
/// and when no path is given.
std::vector<text_file> read_text_files(std::span<std::string const> paths, std::span<std::string const> extensions = {},
                                       double invalid = 0);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/data/read_text_files.inl.hpp>
#endif
