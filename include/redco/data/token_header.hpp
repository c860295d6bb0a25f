#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

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

}  // namespace redco::data

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/token_header.inl.hpp>
#endif
