#pragma once

#include <redco/data/detail/input_blocks.hpp>
#include <redco/data/detail/text_on_disk.hpp>
#include <redco/tokenizer/tokenizer.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::data::detail {

/// The ids of a block of input.
struct encoded_block {
  std::vector<std::byte> ids;   ///< Ids as in a token file
  std::int64_t count = 0;       ///< Number of ids
  std::int64_t documents = 0;   ///< Number of documents that end in the block
  line_encoding encoding = {};  ///< Bytes that are NUL or no UTF-8
};

/// A function that converts blocks of input to ids. Threads may call it concurrently.
class block_encoder {
 public:
  /// Ends documents with the id `end`. Encodes ids in `width` bytes. `key` and `invalid` are those
  /// of tokenize_options.
  block_encoder(tokenizer::any_tokenizer tokenizer, std::int64_t end, int width, std::string key, double invalid)
      : tokenizer_(std::move(tokenizer)), end_(end), width_(width), key_(std::move(key)), invalid_(invalid) {}

  /// Returns the ids of a block of the file `path`. Throws the errors of read_texts for its lines.
  encoded_block operator()(input_block const& block, std::filesystem::path const& path) const;

 private:
  void append(std::string_view text, encoded_block& result, bool ends_document) const;
  void append_text(input_block const& block, std::filesystem::path const& path, encoded_block& result) const;
  void append_lines(input_block const& block, std::filesystem::path const& path, encoded_block& result) const;

  tokenizer::any_tokenizer tokenizer_;
  std::int64_t end_;
  int width_;
  std::string key_;
  double invalid_;
};

}  // namespace redco::data::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/detail/block_encoder.inl.hpp>
#endif
