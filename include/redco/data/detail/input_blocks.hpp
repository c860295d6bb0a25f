#pragma once

#include <redco/diag/input_file.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco::data::detail {

/// A file to tokenize.
struct input_entry {
  std::filesystem::path path;
  std::int64_t bytes;     ///< Size of the file
  std::int64_t modified;  ///< Time of the last change, in ticks of the file system's clock
};

/// Returns the files of `paths` in the given order, with the files below folders, sorted by path.
/// Leaves out empty files in folders. Throws the errors of read_text_files for paths.
std::vector<input_entry> inputs_of(std::span<std::string const> paths);

/// Format of an input file, chosen by its extension as in read_texts.
enum class input_format { text, lines, json };

/// A piece of an input file that one thread tokenizes.
struct input_block {
  std::size_t file;     ///< Index of the file
  std::int64_t offset;  ///< Bytes of the file before the block
  std::int64_t line;    ///< Number of the block's first line, from 1
  std::int64_t size;    ///< Bytes of the block in the file
  std::int64_t lines;   ///< Number of ends of lines in the block
  input_format format;
  std::string bytes;  ///< Content; empty for JSON, which is read as a whole
  bool last;          ///< True for the last block of the file
};

/// Cuts input files into blocks of about 1 MiB. The cuts depend only on the files, so that the ids
/// of a text that is longer than a block do not depend on threads or interruptions.
class input_blocks {
 public:
  /// Begins at byte `offset` of a file, which is the end of an earlier block, and at `line`.
  input_blocks(std::span<input_entry const> files, std::size_t file, std::int64_t offset, std::int64_t line)
      : files_(files), file_(file), offset_(offset), line_(line) {}

  /// Returns the next block, or nullopt after the last file. Throws `error` with exit code 65 for a
  /// file that is compressed or UTF-16 or was cut, and for a line of JSONL over 64 MiB.
  std::optional<input_block> next();

 private:
  std::string line_block(std::int64_t rest);

  std::span<input_entry const> files_;
  std::size_t file_;
  std::int64_t offset_, line_;
  std::unique_ptr<diag::input_file> open_;
};

/// Returns the number of bytes of `text` to keep, so that no word is cut if possible. The cut is at
/// the last end of a line, otherwise at the last space after a word, otherwise at the last begin of
/// a code point. Requires a text that is not empty.
std::size_t text_cut(std::string_view text);

}  // namespace redco::data::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/detail/input_blocks.inl.hpp>
#endif
