#pragma once

#include <redco/tokenizer/special_names.hpp>
#include <redco/tokenizer/tokenizer.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco {

/// A token that is found in a text before a model of SentencePiece reads it: one of its control
/// tokens, or one beside it.
struct sentencepiece_token {
  std::string content;
  std::int64_t id = 0;
  bool special = false;
  bool single_word = false;   ///< found only where no letter or digit touches it
  bool strips_left = false;   ///< swallows white space before it
  bool strips_right = false;  ///< swallows white space after it
};

/// Where a space is put before text. A part of a text lies between two added tokens.
enum class prefix_space : std::uint8_t {
  by_model,    ///< before each part, if the model says so
  each_part,   ///< before each part that does not begin with a space: `legacy` of LlamaTokenizer
  first_part,  ///< before the part that begins the text, unless it begins with a space
  nowhere
};

/// Settings that a SentencePiece model does not contain.
struct sentencepiece_options {
  bool add_begin = false;  ///< put the begin token before a text: LLaMA-2
  bool add_end = false;    ///< put the end token after a text: T5
  std::vector<sentencepiece_token> added = {};
  special_names names = {};    ///< added tokens that begin, end or pad a text; else the model's own do
  bool cleans_spaces = false;  ///< remove spaces before punctuation from decoded text: see `tokenizer`
  prefix_space prefix = prefix_space::by_model;
};

namespace detail {
class sentencepiece_model;
class added_pieces;
}  // namespace detail

/// A model of SentencePiece (T5's spiece.model, LLaMA-2's tokenizer.model), computed by its own
/// library. A text between two added tokens is read as a text of its own; unknown text decodes to "
/// ⁇ ". Bytes that are no UTF-8 are read as U+FFFD. All members may be called by several threads at
/// once.
///
/// Errors: exit_code::data for a file that is missing or no model, where redco was built without
/// SentencePiece (libsentencepiece-dev), and for a text of more than 16 MiB, because the library
/// takes up to 200 bytes of memory for each byte of it.
class sentencepiece_tokenizer {
 public:
  explicit sentencepiece_tokenizer(std::filesystem::path const& file, sentencepiece_options options = {});

  std::vector<std::int64_t> encode(std::string_view text, encode_options options = {}) const;
  std::string decode(std::span<std::int64_t const> ids, decode_options options = {}) const;
  bool append(std::string& bytes, std::int64_t id, bool first) const;
  std::int64_t vocabulary_size() const;
  special_ids const& specials() const { return specials_; }
  bool cleans_spaces() const { return cleans_spaces_; }

 private:
  std::shared_ptr<detail::sentencepiece_model const> model_;
  std::shared_ptr<detail::added_pieces const> added_;
  bool add_begin_, add_end_, cleans_spaces_;
  prefix_space prefix_;
  special_ids specials_;
  bool drops_one_space_ = false;  // in front of a text
  bool drops_all_spaces_ = false;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tokenizer/sentencepiece_tokenizer.inl.hpp>
#endif
