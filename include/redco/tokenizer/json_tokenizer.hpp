#pragma once

#include <redco/tokenizer/special_names.hpp>
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

namespace redco {

namespace detail {
class tokenizer_file;
}

/// A tokenizer read from a Hugging Face tokenizer.json. Its ids equal those of the `tokenizers`
/// library 0.22. Models: byte-level BPE (GPT-2, LLaMA-3, Qwen2), BPE with byte fallback (LLaMA-2),
/// Unigram (T5), WordPiece (BERT). Truncation and padding settings are ignored; README.md lists the
/// supported parts. Copies share one vocabulary. All members may be called concurrently. A word of
/// n bytes takes O(n log n) time. Throws `error` with exit code 65 if the file is missing, broken
/// or contradictory, or asks for an unsupported part. Also throws 65 if a pattern needs PCRE2 and
/// redco was built without PCRE2, or if matching takes too many steps.
class json_tokenizer {
 public:
  explicit json_tokenizer(std::filesystem::path const& file, special_names const& names = {});
  /// Reads the parsed JSON of a tokenizer.json. `source` names the JSON in error messages. If
  /// `cleans_spaces` is true, decoding removes spaces before punctuation.
  json_tokenizer(json::json_value const& root, std::string const& source, special_names const& names = {},
                 bool cleans_spaces = false);
  /// Returns the tokenizer described by the text of a tokenizer.json. `source` names the text in
  /// error messages.
  static json_tokenizer parse(std::string_view text, std::string const& source, special_names const& names = {});

  /// Returns the ids of `text`. An empty text without special tokens around it has no ids.
  std::vector<std::int64_t> encode(std::string_view text, encode_options options = {}) const;
  /// Returns the text of `ids`, always valid UTF-8: U+FFFD replaces invalid bytes. Ids without a
  /// token add nothing, because models often have more rows than their tokenizer has tokens.
  std::string decode(std::span<std::int64_t const> ids, decode_options options = {}) const;
  /// Appends the bytes of the token `id` (special or not) and returns true. Returns false if no
  /// token has this id. See the concept `tokenizer`.
  bool append(std::string& bytes, std::int64_t id, bool first) const;

  /// Returns the id of a token as spelled in the file, or nullopt if the file has no such token.
  std::optional<std::int64_t> id_of(std::string_view token) const;
  std::int64_t vocabulary_size() const;  ///< Returns the largest id plus one.
  special_ids const& specials() const;
  bool cleans_spaces() const { return cleans_spaces_; }

 private:
  std::shared_ptr<detail::tokenizer_file const> file_;
  bool cleans_spaces_ = false;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tokenizer/json_tokenizer.inl.hpp>
#endif
