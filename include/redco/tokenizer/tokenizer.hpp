#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco {

/// Options of `encode`, the conversion of a text to ids.
struct encode_options {
  /// Put the special ids around the text that the tokenizer's file asks for, such as [CLS] and
  /// [SEP].
  bool add_special = true;
  /// Read a special token written within the text, such as "<|endoftext|>", as that token. Set to
  /// false for untrusted text.
  bool find_special = true;
};

/// Options of `decode`, the conversion of ids to a text.
struct decode_options {
  /// Write special tokens such as "<|endoftext|>" into the text instead of omitting them.
  bool keep_special = false;
};

/// Ids of the special tokens of a vocabulary, which represent no text. Tokens that the files do not
/// name are nullopt.
struct special_ids {
  std::optional<std::int64_t> begin = {};    ///< token that begins a text (bos)
  std::optional<std::int64_t> end = {};      ///< token that ends a text (eos) and stops generation
  std::optional<std::int64_t> padding = {};  ///< token that fills short rows of a batch
  std::optional<std::int64_t> unknown = {};  ///< token for text that no other token covers
  /// Ids of all special tokens in ascending order; decoding omits them
  std::vector<std::int64_t> all = {};
};

/// A type that converts text to ids and back. All members are const and may be called concurrently.
/// - encode(text, options) returns the ids of a text; invalid UTF-8 is read as U+FFFD.
/// - decode(ids, options) returns the text of ids, always UTF-8; ids without a token add nothing.
/// - append(bytes, id, first) appends the bytes of one token, possibly part of a code point.
///   Pass `first` = true until append returns true (the text has begun).
/// - vocabulary_size() returns the largest id plus one; specials() returns the special ids.
/// - cleans_spaces() (optional) returns true if decode removes spaces before punctuation and in
///   English contractions, like clean_up_tokenization of transformers.
template <class T>
concept tokenizer = requires(T const& t, std::string_view text, std::span<std::int64_t const> ids, std::string& bytes) {
  { t.encode(text, encode_options{}) } -> std::same_as<std::vector<std::int64_t>>;
  { t.decode(ids, decode_options{}) } -> std::same_as<std::string>;
  { t.append(bytes, std::int64_t{}, bool{}) } -> std::same_as<bool>;
  { t.vocabulary_size() } -> std::same_as<std::int64_t>;
  { t.specials() } -> std::same_as<special_ids const&>;
};

namespace detail {

/// Returns true if decoding with `t` removes spaces before punctuation; false if `t` has no member
/// cleans_spaces().
template <tokenizer T>
bool cleans_spaces(T const& t) {
  if constexpr (requires {
                  { t.cleans_spaces() } -> std::same_as<bool>;
                }) {
    return t.cleans_spaces();
  } else {
    return false;
  }
}

}  // namespace detail

}  // namespace redco
