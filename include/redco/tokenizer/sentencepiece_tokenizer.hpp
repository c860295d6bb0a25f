#pragma once

#include <redco/tokenizer/tokenizer.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco::tokenizer::detail {

class sentencepiece_model;
class added_pieces;

}  // namespace redco::tokenizer::detail

namespace redco::tokenizer {

/// An added token, which is searched for in a text before a SentencePiece model reads the text: a
/// control token of the model or a token that the folder declares.
struct sentencepiece_token {
  std::string content;
  std::int64_t id = 0;
  bool special = false;
  /// True if the token is found only where no letter or digit adjoins it.
  bool single_word = false;
  bool strips_left = false;   ///< True if white space before the token is removed from the text
  bool strips_right = false;  ///< True if white space after the token is removed from the text
};

/// A rule by which a SentencePiece tokenizer puts a space before pieces of text. Added tokens
/// divide a text into pieces.
enum class prefix_space : std::uint8_t {
  /// Rule: put a space before each piece of text between added tokens, if the model's file asks for
  /// a space.
  by_model,
  /// Rule: put a space before each piece of text between added tokens, unless the piece begins with
  /// a space. Used for LlamaTokenizer with `legacy` = true.
  each_part,
  /// Rule: put a space before a text, unless the text begins with a space or an added token.
  first_part,
  nowhere
};

/// A set of options of a SentencePiece tokenizer that the model file does not contain.
struct sentencepiece_options {
  bool add_begin = false;  ///< True to put the begin token before a text (LLaMA-2)
  bool add_end = false;    ///< True to put the end token after a text (T5)
  std::vector<sentencepiece_token> added = {};
  /// Names of the tokens for begin, end, padding and unknown text. An empty name selects the token
  /// of the model file.
  special_names names = {};
  bool cleans_spaces = false;  ///< True to remove spaces before punctuation from decoded text
  prefix_space prefix = prefix_space::by_model;
};

/// A tokenizer that runs a SentencePiece model (T5's spiece.model, LLaMA-2's tokenizer.model) with
/// the SentencePiece library. Encodes each piece of text between added tokens separately. Unknown
/// text decodes to " ⁇ ". Invalid UTF-8 is read as U+FFFD. All members may be called concurrently.
///
/// Throws `error` with exit code 65 if the file is missing or no model, or if redco was built
/// without SentencePiece. Also throws it for a text of more than 16 MiB, because the library takes
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

}  // namespace redco::tokenizer

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tokenizer/sentencepiece_tokenizer.inl.hpp>
#endif
