#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco {

/// How a text becomes ids.
struct encode_options {
  bool add_special = true;  ///< put the ids around the text that the tokenizer's file asks for, such as [CLS] and [SEP]
  bool find_special =
      true;  ///< read "<|endoftext|>" within the text as that token; off for text that nobody vouches for
};

/// How ids become a text.
struct decode_options {
  bool keep_special = false;  ///< write special tokens, such as "<|endoftext|>", instead of leaving them out
};

/// The tokens of a vocabulary that stand for no text, where they are known.
struct special_ids {
  std::optional<std::int64_t> begin = {};    ///< of a text (bos)
  std::optional<std::int64_t> end = {};      ///< of a text (eos): where generation stops
  std::optional<std::int64_t> padding = {};  ///< fills short rows of a batch
  std::optional<std::int64_t> unknown = {};  ///< what no other token covers
  std::vector<std::int64_t> all = {};        ///< ascending; decoding leaves them out
};

/// Turns text into ids and back. All members are const and may be called from several threads at once.
///   encode(text, options)        the ids of a text; bytes that are no UTF-8 are read as U+FFFD
///   decode(ids, options)         their text, always UTF-8; an id that no token has gives nothing
///   append(bytes, id, first)     adds what one id stands for, in bytes that need not be whole code points, and says
///                                whether the text has begun; `first` until it has. decode is this, id by id
///   vocabulary_size()            one more than the largest id
///   specials()                   ids that stand for no text
///   cleans_spaces()              optional; true: decode then removes spaces before punctuation and
///                                in English contractions, as transformers' clean_up_tokenization
template <class T>
concept tokenizer = requires(T const& t, std::string_view text, std::span<std::int64_t const> ids, std::string& bytes) {
  { t.encode(text, encode_options{}) } -> std::same_as<std::vector<std::int64_t>>;
  { t.decode(ids, decode_options{}) } -> std::same_as<std::string>;
  { t.append(bytes, std::int64_t{}, bool{}) } -> std::same_as<bool>;
  { t.vocabulary_size() } -> std::same_as<std::int64_t>;
  { t.specials() } -> std::same_as<special_ids const&>;
};

namespace detail {

/// Returns true if the tokenizer says that spaces are removed from decoded text.
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
