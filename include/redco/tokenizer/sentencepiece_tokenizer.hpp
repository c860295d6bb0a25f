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

/// A token that is searched for in a text before a SentencePiece model reads the text: a control
/// token of the model or a token added to the model.
struct sentencepiece_token {
  std::string content;
  std::int64_t id = 0;
  bool special = false;
  bool single_word = false;   ///< token is found only if no letter or digit adjoins it
  bool strips_left = false;   ///< white space before the token is removed
  bool strips_right = false;  ///< white space after the token is removed
};

/// Rule for the space that is put before text. A part of a text is the text between two added
/// tokens.
enum class prefix_space : std::uint8_t {
  by_model,    ///< before each part, if the model's file asks for a space
  each_part,   ///< before each part that does not begin with a space: `legacy` of LlamaTokenizer
  first_part,  ///< before the part that begins the text, unless this part begins with a space
  nowhere
};

/// Settings of a tokenizer that a SentencePiece model file does not contain.
struct sentencepiece_options {
  bool add_begin = false;  ///< put the begin token before a text (LLaMA-2)
  bool add_end = false;    ///< put the end token after a text (T5)
  std::vector<sentencepiece_token> added = {};
  /// Added tokens for begin, end, padding and unknown; the model's own tokens if empty
  special_names names = {};
  bool cleans_spaces = false;  ///< remove spaces before punctuation from decoded text
  prefix_space prefix = prefix_space::by_model;
};

namespace detail {
class sentencepiece_model;
class added_pieces;
}  // namespace detail

/// A tokenizer that runs a SentencePiece model (T5's spiece.model, LLaMA-2's tokenizer.model) with
/// the SentencePiece library. Encodes the text between two added tokens separately. Unknown text
/// decodes to " ⁇ ". Invalid UTF-8 is read as U+FFFD. All members may be called concurrently.
///
/// Throws `error` with exit code 65 if the file is missing or no model, or if redco was built
/// without SentencePiece. Also throws 65 for a text of more than 16 MiB, because the library takes
/// up to 200 bytes of memory per byte of text.
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
  // The model adds one space before a text; decoding removes this space
  bool drops_one_space_ = false;
  bool drops_all_spaces_ = false;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tokenizer/sentencepiece_tokenizer.inl.hpp>
#endif
