#pragma once

#include <redco/data/detail/input_blocks.hpp>
#include <redco/data/detail/text_on_disk.hpp>
#include <redco/json/value_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace redco::data::detail {

/// Position of a call of tokenize_files() in its input.
struct tokenize_position {
  std::size_t file = 0;
  std::int64_t offset = 0, line = 1;                  // the next byte of the file, and its line
  std::int64_t ids = 0, documents = 0;                // numbers of what is written
  std::int64_t ids_before = 0, documents_before = 0;  // of these, those of earlier files
  line_encoding encoding = {};                        // bytes of the file before the offset

  /// Returns the position of the begin of the file.
  tokenize_position file_begin() const {
    return {.file = file,
            .ids = ids_before,
            .documents = documents_before,
            .ids_before = ids_before,
            .documents_before = documents_before};
  }
};

/// The file OUT.progress, from which a call of tokenize_files() continues.
class saved_progress {
 public:
  /// `settings` is an object of names and values that an interrupted call must share with the call
  /// that continues.
  saved_progress(std::filesystem::path const& out, std::span<input_entry const> files,
                 json::json_value const& settings);

  /// Returns the position of an interrupted call, or the begin of its file if that file has changed
  /// since. Returns the begin of the input if there is no such call. Throws `error` with exit code
  /// 64 if settings or earlier files differ, and with 65 if OUT.progress is damaged.
  tokenize_position read() const;

  /// Replaces OUT.progress. Throws `error` with exit code 74 if it cannot be written.
  void write(tokenize_position const& at) const;

  void remove() const;

 private:
  std::string hash_of(std::size_t first, std::size_t last) const;

  std::filesystem::path path_, partial_;
  std::span<input_entry const> files_;
  std::shared_ptr<json::json_value const> settings_;
};

}  // namespace redco::data::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/detail/saved_progress.inl.hpp>
#endif
