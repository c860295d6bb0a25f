#pragma once

#include <redco/diag/error.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::tokenizer {

/// A set of contents of special tokens, as named by tokenizer_config.json: the tokens that begin,
/// end or pad a text or replace unknown text. An empty string means that there is no such token.
struct special_names {
  std::string begin = {};
  std::string end = {};
  std::string padding = {};
  std::string unknown = {};
};

/// A set of options of a tokenizer's function `encode`, which converts a text to token ids.
struct encode_options {
  /// True to put special tokens around a text, such as [CLS] and [SEP], if the tokenizer's file
  /// asks for them.
  bool add_special = true;
  /// True to encode a special token written within a text, such as "<|endoftext|>", as this token.
  /// Set to false for untrusted text.
  bool find_special = true;
};

/// A set of options of a tokenizer's function `decode`, which converts token ids to a text.
struct decode_options {
  /// True to write special tokens such as "<|endoftext|>" into the text instead of omitting them.
  bool keep_special = false;
};

/// The token ids of two texts as one input of an encoder such as BERT, with the special tokens
/// around and between them.
struct pair_encoding {
  std::vector<std::int64_t> ids = {};
  /// Token type (segment) of each id: 0 for the first text; RoBERTa has only type 0.
  std::vector<std::int64_t> types = {};
};

/// A set of ids of a vocabulary's special tokens, which represent no text. An id is nullopt if the
/// tokenizer's files do not name such a token.
struct special_ids {
  std::optional<std::int64_t> begin = {};  ///< Id of the token that begins a text (bos)
  /// Id of the token that ends a text (eos) and stops generation.
  std::optional<std::int64_t> end = {};
  std::optional<std::int64_t> padding = {};  ///< Id of the token that fills short rows of a batch
  /// Id of the token for text that no other token covers.
  std::optional<std::int64_t> unknown = {};
  /// Ids of all special tokens in ascending order. Decoding omits these tokens.
  std::vector<std::int64_t> all = {};
};

/// A type that converts text to token ids and back. All members are const and may be called
/// concurrently.
/// - encode(text, options) returns the ids of a text; invalid UTF-8 is read as U+FFFD.
/// - decode(ids, options) returns the text of ids, always UTF-8; ids without a token add no text.
/// - append(bytes, id, first) appends the bytes of one token and returns true if the id has a
///   token. `first` is true until append has returned true for this text.
/// - vocabulary_size() returns the largest id plus one; specials() returns the special ids.
/// - encode_pair(first, second, most) and cleans_spaces(), both optional: see json_tokenizer.
template <class T>
concept tokenizer = requires(T const& t, std::string_view text, std::span<std::int64_t const> ids, std::string& bytes) {
  { t.encode(text, encode_options{}) } -> std::same_as<std::vector<std::int64_t>>;
  { t.decode(ids, decode_options{}) } -> std::same_as<std::string>;
  { t.append(bytes, std::int64_t{}, bool{}) } -> std::same_as<bool>;
  { t.vocabulary_size() } -> std::same_as<std::int64_t>;
  { t.specials() } -> std::same_as<special_ids const&>;
};

}  // namespace redco::tokenizer

namespace redco::tokenizer::detail {

/// Returns true if decoding by the tokenizer `t` removes spaces before punctuation. Returns false
/// if `t` has no member cleans_spaces().
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

/// Returns the `pair_encoding` of two texts by the tokenizer `t`. Throws `error` with exit code 65
/// if `t` has no member encode_pair().
template <tokenizer T>
pair_encoding encode_pair(T const& t, std::string_view first, std::string_view second, std::int64_t most) {
  if constexpr (requires {
                  { t.encode_pair(first, second, most) } -> std::same_as<pair_encoding>;
                }) {
    return t.encode_pair(first, second, most);
  } else {
    throw error(exit_code::data, "this kind of tokenizer encodes no pairs of texts; use a tokenizer.json of BERT");
  }
}

}  // namespace redco::tokenizer::detail

namespace redco::tokenizer {

/// A value that holds a tokenizer of any type that satisfies the concept `tokenizer`. Copies share
/// the held tokenizer.
class any_tokenizer {
 public:
  template <class T>
    requires(!std::same_as<std::remove_cvref_t<T>, any_tokenizer> && tokenizer<std::remove_cvref_t<T>>)
  any_tokenizer(T&& held) : held_(std::make_shared<holder<std::remove_cvref_t<T>>>(std::forward<T>(held))) {}

  std::vector<std::int64_t> encode(std::string_view text, encode_options options = {}) const {
    return held_->encode(text, options);
  }
  pair_encoding encode_pair(std::string_view first, std::string_view second, std::int64_t most = 0) const {
    return held_->encode_pair(first, second, most);
  }
  std::string decode(std::span<std::int64_t const> ids, decode_options options = {}) const {
    return held_->decode(ids, options);
  }
  bool append(std::string& bytes, std::int64_t id, bool first) const { return held_->append(bytes, id, first); }
  std::int64_t vocabulary_size() const { return held_->vocabulary_size(); }
  special_ids const& specials() const { return held_->specials(); }
  bool cleans_spaces() const { return held_->cleans_spaces(); }

 private:
  struct interface {
    virtual ~interface() = default;
    virtual std::vector<std::int64_t> encode(std::string_view, encode_options) const = 0;
    virtual pair_encoding encode_pair(std::string_view, std::string_view, std::int64_t) const = 0;
    virtual std::string decode(std::span<std::int64_t const>, decode_options) const = 0;
    virtual bool append(std::string&, std::int64_t, bool) const = 0;
    virtual std::int64_t vocabulary_size() const = 0;
    virtual special_ids const& specials() const = 0;
    virtual bool cleans_spaces() const = 0;
  };

  template <class T>
  struct holder final : interface {
    explicit holder(T value) : held(std::move(value)) {}

    std::vector<std::int64_t> encode(std::string_view text, encode_options options) const override {
      return held.encode(text, options);
    }
    pair_encoding encode_pair(std::string_view first, std::string_view second, std::int64_t most) const override {
      return detail::encode_pair(held, first, second, most);
    }
    std::string decode(std::span<std::int64_t const> ids, decode_options options) const override {
      return held.decode(ids, options);
    }
    bool append(std::string& bytes, std::int64_t id, bool first) const override {
      return held.append(bytes, id, first);
    }
    std::int64_t vocabulary_size() const override { return held.vocabulary_size(); }
    special_ids const& specials() const override { return held.specials(); }
    bool cleans_spaces() const override { return detail::cleans_spaces(held); }

    T held;
  };

  std::shared_ptr<interface const> held_;
};

}  // namespace redco::tokenizer
