#pragma once

#include <redco/diag/error.hpp>

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <utility>
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

namespace redco::data {

/// Texts of a data set in two lists that share no byte: one for training, one for evaluation.
struct text_split {
  std::vector<text_file> train;
  std::vector<text_file> held_out;
};

/// The examples of a data set in two lists: one for training, one for evaluation.
template <class Example>
struct example_split {
  std::vector<Example> train;
  std::vector<Example> held_out;
};

/// Splits examples into training and evaluation data. Holds out the last one of each `every`
/// consecutive examples for evaluation; `every` 0 holds out none.
template <class Example>
example_split<Example> hold_out_every(std::vector<Example> all, std::int64_t every) {
  example_split<Example> split;
  std::int64_t index = 0;
  for (Example& one : all) (every > 0 && ++index % every == 0 ? split.held_out : split.train).push_back(std::move(one));
  return split;
}

}  // namespace redco::data

namespace redco {

/// Splits files into training and evaluation data. Holds out every `every`-th file for evaluation,
/// beginning with index min(every, files) / 2. If there is one file, holds out the last 1 / every
/// of its bytes, rounded up. Equal lists of files give equal splits. Throws `error` with exit code
/// 65 if one part would be empty. Requires every >= 2.
data::text_split hold_out(std::vector<data::text_file> files, std::int64_t every = 20);

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/read_texts.inl.hpp>
#endif
