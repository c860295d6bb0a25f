#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace redco::data {

/// Options of tokenize_files().
struct tokenize_options {
  std::string key = "text";  ///< Key of the text in objects of JSON and JSONL
  std::string end = {};      ///< Token that ends each document; empty: the tokenizer's end token
  int threads = 1;           ///< Number of threads that tokenize; the ids do not depend on it
  /// Largest share, 0 to 1, of a file's bytes that may be NUL or no UTF-8.
  double invalid_utf8 = 0;
  /// Bytes of input between two saves of the progress, which an interrupted run continues from.
  std::int64_t save_every = std::int64_t{256} << 20;
};

/// State of tokenize_files().
struct tokenize_progress {
  std::int64_t bytes = 0;      ///< Bytes of input that are tokenized
  std::int64_t all_bytes = 0;  ///< Bytes of all input
  std::int64_t continued = 0;  ///< Bytes of input that an interrupted run has tokenized
  std::int64_t documents = 0;  ///< Number of documents in the token file
  std::int64_t ids = 0;        ///< Number of ids in the token file
  int width = 0;               ///< Bytes of an id in the token file
  bool finished = false;       ///< True if the token file is complete
};

/// Writes the ids of texts to the token file `out`. `folder` has the tokenizer, and `inputs` are
/// text files, JSON, JSONL and folders, as for read_texts. A text is a document without special
/// tokens, and ends with the end id. Text files over 1 MiB are encoded in pieces that end with a
/// line or a word. Calls `report` after each piece; if it returns false, saves the progress and
/// returns. OUT.partial and OUT.progress hold an unfinished file. An equal call continues it, also
/// after the process was killed. Throws `error` with exit code 64 for wrong options and for a call
/// that differs from the interrupted one, and the errors of read_texts and token_writer.
tokenize_progress tokenize_files(std::filesystem::path const& folder, std::span<std::string const> inputs,
                                 std::filesystem::path const& out, tokenize_options const& options = {},
                                 std::function<bool(tokenize_progress const&)> const& report = {});

}  // namespace redco::data

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/tokenize_files.inl.hpp>
#endif
