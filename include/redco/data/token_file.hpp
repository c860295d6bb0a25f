#pragma once

#include <redco/data/detail/computed_iterator.hpp>
#include <redco/data/detail/mapped_file.hpp>
#include <redco/data/token_header.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

namespace redco::data {

/// A file of token ids, mapped from disk, as a range of examples for language models. Example i is
/// the window of `context + 1` ids that begins at id `i * context`. The last window may be shorter
/// but has at least two ids. Reading a window leaves none of its pages in the resident memory of
/// this process. Copies share the mapping; threads may read concurrently.
///
///     redco::data::token_file const train("train.ids", 1024);
///     trainer.fit(train);
class token_file {
 public:
  using window = std::vector<std::int64_t>;
  using iterator = detail::computed_iterator<token_file, window>;

  /// Maps the file, which redco-tokenize or token_writer has written. Throws `error` with exit code
  /// 65 if it is missing or damaged, or has fewer than two ids; with 64 unless context >= 1; with
  /// 74 if the system cannot map it.
  token_file(std::filesystem::path const& path, std::int64_t context);

  /// Returns the number of windows.
  std::size_t size() const { return size_; }
  /// Returns the ids of a window. Requires 0 <= index < size().
  window operator[](std::ptrdiff_t index) const;
  iterator begin() const { return {*this, 0}; }
  iterator end() const { return {*this, static_cast<std::ptrdiff_t>(size_)}; }

  token_header const& header() const { return header_; }
  std::int64_t context() const { return context_; }

  /// Throws `error` with exit code 65 if the ids come from another tokenizer than the one in
  /// `folder`, or if the file does not state its tokenizer.
  void check_tokenizer(std::filesystem::path const& folder) const;

 private:
  std::shared_ptr<detail::mapped_file const> file_;
  token_header header_;
  std::int64_t context_;
  std::size_t size_;
};

}  // namespace redco::data

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/token_file.inl.hpp>
#endif
