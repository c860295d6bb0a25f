#pragma once

#include <redco/diag/error.hpp>

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace redco {

/// Reads a JSONL file and returns the strings under `keys` of each line: result[line][key]. Reads
/// at most `most` lines; 0 reads all. Ignores other keys, empty lines, a byte order mark and CR at
/// line ends. Throws `error` with exit code 65 for a missing, unreadable, compressed, UTF-16 or
/// empty file. Throws it with "path:line: why" for a line over 64 MiB, NUL or invalid UTF-8. Also
/// throws it for a line that is no JSON object, or that lacks a string under a key.
std::vector<std::vector<std::string>> read_jsonl(std::filesystem::path const& path, std::span<std::string const> keys,
                                                 std::int64_t most = 0);

}  // namespace redco

namespace redco::detail {

/// Reads JSONL from the stream `in` as read_jsonl does, and returns result[line][key]. `path`: name
/// of the file, for error messages.
std::vector<std::vector<std::string>> read_lines(std::istream& in, std::filesystem::path const& path,
                                                 std::span<std::string const> keys, std::int64_t most);

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/data/read_jsonl.inl.hpp>
#endif
