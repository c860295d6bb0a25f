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

/// Reads files and folders, in the order given. A folder stands for the files below it whose extension is in
/// `extensions` (".hpp"; none given: every file), sorted by path, those without content left out; links to folders are
/// not followed. Throws error 65 naming the path that is missing, neither file nor folder, unreadable, empty, or a
/// folder without text, and when no path is given.
std::vector<text_file> read_text_files(std::span<std::string const> paths,
                                       std::span<std::string const> extensions = {});

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/data/read_text_files.inl.hpp>
#endif
