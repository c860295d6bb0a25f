#pragma once

#include <redco/tokenizer/tokenizer.hpp>

#include <redco/json/value_fwd.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::tokenizer::detail {

class tokenizer_file;

}  // namespace redco::tokenizer::detail

namespace redco::tokenizer {

/// A tokenizer read from a Hugging Face tokenizer.json. Its ids equal those of the `tokenizers`
/// library 0.22. Models: byte-level BPE (GPT-2, LLaMA-3, Qwen2), BPE with byte fallback (LLaMA-2),
/// Unigram (T5), WordPiece (BERT). README.md lists the supported keys; truncation and padding
/// settings are ignored. Copies share one vocabulary. All members may be called concurrently. A
/// word of n bytes takes O(n log n) time. Throws `error` with exit code 65 if the file is missing,
/// broken, contradictory or not supported. Throws it also if matching a pattern takes too many
/// steps, or needs PCRE2 in a build without PCRE2.
class json_tokenizer {
 public:
  explicit json_tokenizer(std::filesystem::path const& file, special_names const& names = {});
  /// Creates a tokenizer from the parsed JSON of a tokenizer.json. `source` names the JSON in error
  /// messages. If `cleans_spaces` is true, decoding removes spaces before punctuation.
  json_tokenizer(json::json_value const& root, std::string const& source, special_names const& names = {},
                 bool cleans_spaces = false);
  /// Returns a tokenizer from `text`, the content of a tokenizer.json. `source` names the text in
  /// error messages.
  static json_tokenizer parse(std::string_view text, std::string const& source, special_names const& names = {});

  /// Returns the token ids of `text`. An empty text has no ids, unless special tokens are put
  /// around it.
  std::vector<std::int64_t> encode(std::string_view text, encode_options options = {}) const;
  /// Returns the ids of two texts as one input, as the file's post_processor joins them. If there
  /// would be more than `most` ids (0: any number), the longer text loses its last ids, as in
  /// transformers' truncation "longest_first". Throws `error` with exit code 65 if the
  /// post_processor puts no special token around a pair. Throws it with exit code 64 if `most` is
  /// smaller than the number of special tokens.
  pair_encoding encode_pair(std::string_view first, std::string_view second, std::int64_t most = 0) const;
  /// Returns the text of token ids. The text is always valid UTF-8: U+FFFD replaces invalid bytes.
  /// Ids without a token add no text, because models often have more embedding rows than their
  /// tokenizer has tokens.
  std::string decode(std::span<std::int64_t const> ids, decode_options options = {}) const;
  /// Appends the bytes of the token with this id, special or not, to `bytes` and returns true.
  /// Returns false if no token has this id. `first` is true if no token of the text was appended
  /// before.
  bool append(std::string& bytes, std::int64_t id, bool first) const;

  /// Returns the id of a token as spelled in tokenizer.json, or nullopt if the file has no such
  /// token.
  std::optional<std::int64_t> id_of(std::string_view token) const;
  /// Returns the largest token id plus one.
  std::int64_t vocabulary_size() const;
  special_ids const& specials() const;
  /// Returns true if decoding removes spaces before punctuation.
  bool cleans_spaces() const { return cleans_spaces_; }

 private:
  std::shared_ptr<detail::tokenizer_file const> file_;
  bool cleans_spaces_ = false;
};

}  // namespace redco::tokenizer

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tokenizer/json_tokenizer.inl.hpp>
#endif
