#pragma once

#include <redco/data/detail/computed_iterator.hpp>
#include <redco/data/detail/mapped_file.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace redco::data {

/// A JSONL file, mapped from disk, as a range of rows: the texts under some keys of each line. The
/// constructor reads the file once and keeps 8 bytes for each line; a line is parsed when its row
/// is read. Empty lines and other keys are ignored. Reading leaves no page of the file in the
/// resident memory of this process. Copies share the mapping; threads may read concurrently.
class jsonl_index {
 public:
  using row = std::vector<std::string>;
  using iterator = detail::computed_iterator<jsonl_index, row>;

  /// Indexes the lines of the file at `path` for the texts under `keys`. Throws `error` with exit
  /// code 65 for a file that is missing, compressed, UTF-16 or without lines, and for a line over
  /// 64 MiB; with 74 if the system cannot map the file.
  jsonl_index(std::filesystem::path const& path, std::vector<std::string> keys);

  /// Returns the number of rows.
  std::size_t size() const { return begins_->size(); }

  /// Returns the texts of a line in the order of the keys. Requires 0 <= index < size(). Throws
  /// `error` with exit code 65 and "path:line: why" for a line without an object, a missing key and
  /// invalid UTF-8.
  row operator[](std::ptrdiff_t index) const;
  iterator begin() const { return {*this, 0}; }
  iterator end() const { return {*this, static_cast<std::ptrdiff_t>(size())}; }

  /// Reads all rows once, and so throws the errors that training would meet later.
  void check() const;

 private:
  std::string where(std::uint64_t begin) const;

  std::shared_ptr<detail::mapped_file const> file_;
  std::shared_ptr<std::vector<std::uint64_t> const> begins_;  // first byte of each line
  std::vector<std::string> keys_;
};

/// The texts under one key of a JSONL file, as jsonl_index reads them.
///
///     redco::data::jsonl_texts const train("train.jsonl", "text");
///     trainer.fit(train);
class jsonl_texts {
 public:
  using iterator = detail::computed_iterator<jsonl_texts, std::string>;

  explicit jsonl_texts(std::filesystem::path const& path, std::string const& key = "text") : lines_(path, {key}) {}

  std::size_t size() const { return lines_.size(); }
  std::string operator[](std::ptrdiff_t index) const { return lines_[index].front(); }
  iterator begin() const { return {*this, 0}; }
  iterator end() const { return {*this, static_cast<std::ptrdiff_t>(size())}; }
  void check() const { lines_.check(); }

 private:
  jsonl_index lines_;
};

}  // namespace redco::data

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/jsonl_index.inl.hpp>
#endif
