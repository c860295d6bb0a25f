#pragma once

#include <redco/data/detail/computed_iterator.hpp>
#include <redco/data/detail/mapped_file.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace redco::data {

/// The header of a token file, 64 bytes. The ids follow it, little-endian, two bytes each if the
/// vocabulary has at most 65536 ids, otherwise four. Fields of the header, little-endian:
/// - 8 bytes "redcoids", version (u32), bytes of an id (u32)
/// - 64 bits each: count, vocabulary, end (-1: none), tokenizer, 0
/// - XXH64 hash of the 56 bytes before (u64)
struct token_header {
  static constexpr std::size_t bytes = 64;

  std::int64_t count = 0;                ///< Number of ids in the file
  std::int64_t vocabulary = 0;           ///< Largest id of the tokenizer plus one
  std::optional<std::int64_t> end = {};  ///< Id that ends each document
  std::uint64_t tokenizer = 0;           ///< Result of tokenizer_hash(), 0 if unknown

  /// Returns the number of bytes of an id: 2 or 4.
  int width() const { return vocabulary <= 65536 ? 2 : 4; }
  /// Returns the number of bytes of a file with this header.
  std::uint64_t file_bytes() const {
    return bytes + static_cast<std::uint64_t>(count) * static_cast<unsigned>(width());
  }

  /// Returns the header as it is in a file.
  std::array<std::byte, bytes> encoded() const;

  /// Returns the header at the beginning of a file. `front`: the first 64 bytes, or fewer if the
  /// file has fewer. Throws `error` with exit code 65 if the file is no token file, is damaged, or
  /// has an unknown version or another size than its header states.
  static token_header decoded(std::span<std::byte const> front, std::filesystem::path const& path,
                              std::uint64_t file_size);

  friend bool operator==(token_header const&, token_header const&) = default;
};

/// Returns the XXH64 hash of the names and contents of a folder's tokenizer files, such as
/// tokenizer.json and tokenizer_config.json. Equal files give equal hashes in every folder. Throws
/// `error` with exit code 65 if the folder has no such file.
std::uint64_t tokenizer_hash(std::filesystem::path const& folder);

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
