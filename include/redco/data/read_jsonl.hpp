#pragma once

#include <redco/diag/error.hpp>

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace redco {

/// The texts under some keys of each line of a JSONL file: result[line][key]. A line is an object
/// with a string under each key; other keys are left alone, empty lines and a byte order mark are
/// skipped, lines may end in CRLF. At most `most` lines are read; 0: all. `invalid` is the share of
/// the bytes read, 0 to 1, that may be no UTF-8, as in `read_text_files`; texts have U+FFFD in their
/// place, as tokenizers read them.
/// Errors: exit code 65 for a file that is missing, unreadable, compressed, UTF-16 or without a
/// line, and "path:line: why" for a line longer than 64 MiB, that is no object, holds NUL, is
/// without one of the keys, or is the first of a file with more such bytes than `invalid` allows.
std::vector<std::vector<std::string>> read_jsonl(std::filesystem::path const& path, std::span<std::string const> keys,
                                                 std::int64_t most = 0, double invalid = 0);

}  // namespace redco

namespace redco::detail {

/// Returns the texts of the lines of `in`, the content of `path`. See read_jsonl.
std::vector<std::vector<std::string>> read_lines(std::istream& in, std::filesystem::path const& path,
                                                 std::span<std::string const> keys, std::int64_t most, double invalid);

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/data/read_jsonl.inl.hpp>
#endif
