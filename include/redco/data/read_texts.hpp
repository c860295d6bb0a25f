#pragma once

#include <redco/diag/error.hpp>

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace redco {

/// Returns the texts under `keys` of each line of a JSONL file: result[line][key]. Reads at most
/// `most` lines; 0 reads all. `invalid` (0 to 1) is the largest share of the bytes that may be
/// invalid UTF-8, as in read_text_files; U+FFFD replaces such bytes. Throws `error` with exit code
/// 65 for a file that is missing, unreadable, compressed, UTF-16 or without lines. Throws it with
/// "path:line: why" for a line over 64 MiB, a NUL, too many invalid bytes, a line without an
/// object, and a missing key. Other keys, empty lines and a byte order mark are ignored.
std::vector<std::vector<std::string>> read_jsonl(std::filesystem::path const& path, std::span<std::string const> keys,
                                                 std::int64_t most = 0, double invalid = 0);

}  // namespace redco

namespace redco::data::detail {

/// Reads JSONL from the stream `in` as read_jsonl does, and returns result[line][key]. `path`: name
/// of the file, for error messages.
std::vector<std::vector<std::string>> read_lines(std::istream& in, std::filesystem::path const& path,
                                                 std::span<std::string const> keys, std::int64_t most, double invalid);

}  // namespace redco::data::detail

namespace redco {

/// Returns the texts of the files `paths`, and of the files in folders, in the given order. A
/// .jsonl, .ndjson or .json file (in any case of letters) contains one JSON object per line, or an
/// array of objects if it is .json. Each object gives the string under `key`. `invalid`: share of a
/// file's bytes, 0 to 1, that may be NUL or invalid UTF-8. Throws the errors of `read_text_files`
/// and `read_jsonl`.
std::vector<std::string> read_texts(std::span<std::string const> paths, std::string const& key = "text",
                                    double invalid = 0);

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/read_texts.inl.hpp>
#endif
