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

namespace redco {

/// The special tokens around a text, which a model of SentencePiece does not tell.
struct sentencepiece_options {
  bool add_begin = false;  ///< LLaMA-2
  bool add_end = false;    ///< T5
};

namespace detail {
class sentencepiece_model;
}

/// A model of SentencePiece (T5's spiece.model, LLaMA-2's tokenizer.model), computed by its own library. Its control
/// tokens, such as <s>, are never found in a text, whatever encode_options say, nor are T5's <extra_id_0> to
/// <extra_id_99>, which are not in its model; unknown text decodes to " ⁇ ". Bytes that are no UTF-8 are read as
/// U+FFFD. All members may be called by several threads at once.
///
/// Errors: exit_code::data for a file that is missing or no model, where redco was built without SentencePiece
/// (libsentencepiece-dev), and for a text of more than 16 MiB, because the library takes up to 200 bytes of memory for
/// each byte of it.
class sentencepiece_tokenizer {
 public:
  explicit sentencepiece_tokenizer(std::filesystem::path const& file, sentencepiece_options options = {});

  std::vector<std::int64_t> encode(std::string_view text, encode_options options = {}) const;
  std::string decode(std::span<std::int64_t const> ids, decode_options options = {}) const;
  bool append(std::string& bytes, std::int64_t id, bool first) const;
  std::int64_t vocabulary_size() const;
  special_ids const& specials() const { return specials_; }

 private:
  std::shared_ptr<detail::sentencepiece_model const> model_;
  sentencepiece_options options_;
  special_ids specials_;
  bool drops_one_space_ = false;  // in front of a text
  bool drops_all_spaces_ = false;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tokenizer/sentencepiece_tokenizer.inl.hpp>
#endif
