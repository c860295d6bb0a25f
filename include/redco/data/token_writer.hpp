#pragma once

#include <redco/data/token_file.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace redco::data {

/// A token file while it is written. The ids go to the file PATH.partial, which finish() renames to
/// PATH: a file PATH is always complete. An object that is destroyed before finish() leaves
/// PATH.partial, so that another object can continue it. Members throw `error` with exit code 74 if
/// the file cannot be written, or if another process writes it.
///
///     redco::data::token_writer out("train.ids", {.vocabulary = 50257, .end = 50256});
///     for (auto const& text : texts) out.append(tokenizer.encode(text));
///     out.finish();
class token_writer {
 public:
  /// Begins a file with the facts of `header` except its count. Keeps the first `kept` ids that an
  /// earlier object has written to PATH.partial. Throws `error` with exit code 65 if it has fewer.
  token_writer(std::filesystem::path const& path, token_header const& header, std::int64_t kept = 0);
  token_writer(token_writer const&) = delete;
  token_writer& operator=(token_writer const&) = delete;
  ~token_writer();

  /// Returns the name of the file that is written before finish().
  static std::filesystem::path partial_path(std::filesystem::path const& path);

  /// Returns the number of ids written so far.
  std::int64_t count() const { return header_.count; }

  /// Appends ids. Throws `error` with exit code 65 unless 0 <= id < header.vocabulary.
  void append(std::span<std::int64_t const> ids);

  /// Appends ids that are encoded as in the file.
  void append_encoded(std::span<std::byte const> ids);

  /// Makes the ids written so far durable in PATH.partial.
  void sync();

  /// Writes the header, makes the file durable and renames it. No other member may follow.
  void finish();

 private:
  [[noreturn]] void fail(int cause) const;

  std::filesystem::path path_, partial_;
  token_header header_;
  int file_ = -1;
};

}  // namespace redco::data

namespace redco::data::detail {

/// Appends an id to `bytes` as in a token file with ids of `width` bytes.
template <class Bytes>
void append_encoded(Bytes& bytes, std::int64_t id, int width) {
  for (int i = 0; i < width; ++i) bytes.push_back(static_cast<std::byte>(id >> 8 * i & 255));
}

}  // namespace redco::data::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/token_writer.inl.hpp>
#endif
