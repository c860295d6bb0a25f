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

/// The tokenizer of a Hugging Face tokenizer.json, with the ids of the `tokenizers` library (0.22):
/// BPE over bytes (GPT-2, LLaMA-3, Qwen2) or over code points with byte fallback (LLaMA-2), Unigram
/// (T5) and WordPiece (BERT), with the file's normalizers, split patterns, added tokens (under the
/// ids that the file gives them), special tokens around a text and decoder. What the file asks for
/// and is not computed here is refused by name when it is read. truncation and padding of the file
/// are not applied: lengths are the caller's.
///
/// A text is any bytes: those that are no UTF-8 are read as U+FFFD. Memory is linear in the text,
/// time too but for a word of n bytes, which takes n log n. Copies share one vocabulary; all
/// members may be called by several threads at once.
///
/// Errors: exit_code::data for a file that is missing, broken, contradictory or asks for what is
/// not computed, where patterns are needed but redco was built without PCRE2 (libpcre2-dev), and
/// when encoding for a pattern of the file that takes more than a few steps for each byte of a
/// text.
class json_tokenizer {
 public:
  explicit json_tokenizer(std::filesystem::path const& file, special_names const& names = {});
  /// From what such a file holds; `source` names it in errors. `cleans_spaces`: see `tokenizer`.
  json_tokenizer(json::json_value const& root, std::string const& source, special_names const& names = {},
                 bool cleans_spaces = false);
  /// From the text of such a file; `source` names it in errors.
  static json_tokenizer parse(std::string_view text, std::string const& source, special_names const& names = {});

  /// The ids of a text. No text and no special tokens around it: no ids.
  std::vector<std::int64_t> encode(std::string_view text, encode_options options = {}) const;
  /// The text of ids, always UTF-8: U+FFFD stands for bytes that are none. Ids that no token has give nothing, because
  /// models often have more rows than their tokenizer has tokens.
  std::string decode(std::span<std::int64_t const> ids, decode_options options = {}) const;
  /// Appends the bytes of one id, special or not; false when no token has it. See the concept `tokenizer`.
  bool append(std::string& bytes, std::int64_t id, bool first) const;

  /// The id of a token as the file spells it.
  std::optional<std::int64_t> id_of(std::string_view token) const;
  std::int64_t vocabulary_size() const;  ///< one more than the largest id
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
