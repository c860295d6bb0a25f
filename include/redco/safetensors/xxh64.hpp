#pragma once

#include <redco/diag/input_file.hpp>

#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::safetensors {

/// A computation of the XXH64 hash (seed 0) of bytes that arrive in pieces. Equals the hash that
/// `xxhsum -H1` prints. Detects damage, but gives no protection against attackers.
class xxh64 {
 public:
  xxh64() : state_(XXH64_createState()) {
    if (state_ == nullptr) throw std::bad_alloc();
    XXH64_reset(state_, 0);
  }
  xxh64(xxh64&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  xxh64& operator=(xxh64&&) = delete;
  ~xxh64() { XXH64_freeState(state_); }

  void update(std::span<std::byte const> bytes) {
    if (!bytes.empty()) XXH64_update(state_, bytes.data(), bytes.size());
  }

  /// Returns the hash of all bytes added so far.
  std::uint64_t digest() const { return XXH64_digest(state_); }

  /// Returns the hash of a text.
  static std::uint64_t of(std::string_view text) { return XXH64(text.data(), text.size(), 0); }

  /// Returns the hash of a file's content. Reads the file in pieces of 1 MiB.
  static std::uint64_t of(diag::input_file const& file) {
    return of(file, [](std::uint64_t) {});
  }

  /// Returns the hash of a file's content. Calls `read(bytes)` after each piece of at most 1 MiB.
  template <class Read>
  static std::uint64_t of(diag::input_file const& file, Read const& read) {
    constexpr std::uint64_t piece = 1 << 20;
    xxh64 hash;
    std::vector<std::byte> buffer(static_cast<std::size_t>(std::min(piece, file.size())));
    for (std::uint64_t position = 0; position < file.size(); position += piece) {
      auto const bytes = std::span(buffer).first(static_cast<std::size_t>(std::min(piece, file.size() - position)));
      file.read(position, bytes);
      hash.update(bytes);
      read(std::uint64_t{bytes.size()});
    }
    return hash.digest();
  }

  /// Returns a hash as sixteen lower-case hexadecimal digits.
  static std::string text_of(std::uint64_t digest) {
    std::string text(16, '0');
    for (std::size_t i = 16; i-- > 0; digest >>= 4) text[i] = "0123456789abcdef"[digest & 15];
    return text;
  }

 private:
  XXH64_state_t* state_;
};

}  // namespace redco::safetensors
