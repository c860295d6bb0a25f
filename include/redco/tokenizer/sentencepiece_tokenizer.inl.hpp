#pragma once

#include <redco/tokenizer/sentencepiece_tokenizer.hpp>

#include <redco/tokenizer/detail/added_tokens.hpp>
#include <redco/tokenizer/detail/decoded.hpp>
#include <redco/tokenizer/detail/normalizer.hpp>
#include <redco/tokenizer/detail/sentencepiece.hpp>
#include <redco/tokenizer/detail/token_decoder.hpp>
#include <redco/meta/utf8.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace redco::tokenizer::detail {

// U+2581, SentencePiece's mark for a space
inline constexpr std::string_view space_mark = "\xE2\x96\x81";

/// Maximum size in bytes of a text that a SentencePiece tokenizer encodes. The SentencePiece
/// library takes up to 200 bytes of memory per byte of text.
inline constexpr std::size_t sentencepiece_bytes = std::size_t{16} << 20;

/// A set of the added tokens of a SentencePiece tokenizer. Finds the tokens in a text and returns
/// their contents by id.
class added_pieces {
 public:
  explicit added_pieces(std::vector<sentencepiece_token> const& tokens) {
    for (sentencepiece_token const& token : tokens) {
      finder.add({token.content, static_cast<std::uint32_t>(token.id), token.special, token.single_word,
                  token.strips_left, token.strips_right});
      texts.emplace(token.id, token.content);
    }
  }

  added_tokens finder;
  std::map<std::int64_t, std::string> texts;  // id -> content
};

}  // namespace redco::tokenizer::detail

namespace redco::tokenizer {

REDCO_INLINE sentencepiece_tokenizer::sentencepiece_tokenizer(std::filesystem::path const& file,
                                                              sentencepiece_options options)
    : model_(std::make_shared<detail::sentencepiece_model>(file, options.prefix == prefix_space::by_model)),
      added_(std::make_shared<detail::added_pieces>(options.added)),
      add_begin_(options.add_begin),
      add_end_(options.add_end),
      cleans_spaces_(options.cleans_spaces),
      prefix_(options.prefix) {
  auto const role = [&](std::string const& name, int own) {
    for (sentencepiece_token const& token : options.added)
      if (token.content == name) return std::optional(token.id);
    return own < 0 ? std::optional<std::int64_t>() : own;
  };
  specials_ = {.begin = role(options.names.begin, model_->begin_id()),
               .end = role(options.names.end, model_->end_id()),
               .padding = role(options.names.padding, model_->padding_id()),
               .unknown = role(options.names.unknown, model_->unknown_id())};
  for (int id = 0; id < model_->size(); ++id) {
    if (model_->is_control(id)) specials_.all.push_back(id);
  }
  for (sentencepiece_token const& token : options.added)
    if (token.special) specials_.all.push_back(token.id);
  std::sort(specials_.all.begin(), specials_.all.end());
  specials_.all.erase(std::unique(specials_.all.begin(), specials_.all.end()), specials_.all.end());
  if ((options.add_begin && !specials_.begin) || (options.add_end && !specials_.end))
    throw error(exit_code::data, file.string() + " has no token for the " + (specials_.begin ? "end" : "begin") +
                                     " of a text, which should be added; use another model or turn that off");
  // The library's interface does not tell how the model treats spaces, so two short texts are
  // encoded to find out.
  auto const one = model_->encode("a");
  drops_one_space_ = prefix_ == prefix_space::by_model
                         ? !one.empty() && model_->piece(one.front()).starts_with(detail::space_mark)
                         : prefix_ != prefix_space::nowhere;
  drops_all_spaces_ = model_->encode("a  a") == model_->encode("a a");
}

REDCO_INLINE std::vector<std::int64_t> sentencepiece_tokenizer::encode(std::string_view text,
                                                                       encode_options options) const {
  std::string repaired;
  if (meta::well_formed_prefix(text) != text.size()) {
    meta::append_well_formed(repaired, text);
    text = repaired;
  }
  if (text.size() > detail::sentencepiece_bytes)
    throw error(exit_code::data, "a text of " + std::to_string(text.size()) +
                                     " bytes is more than the 16 MiB that SentencePiece is given at once; cut it into "
                                     "smaller ones, such as its lines");
  auto const encode_part = [&](std::string_view part) {
    if (prefix_ == prefix_space::by_model) return model_->encode(part);
    std::string marked = detail::replaced(part, " ", detail::space_mark);
    bool const begins = part.data() == text.data();
    bool const wanted = prefix_ == prefix_space::each_part || (prefix_ == prefix_space::first_part && begins);
    if (wanted && !marked.starts_with(detail::space_mark)) marked.insert(0, detail::space_mark);
    return model_->encode(marked);
  };
  std::vector<std::int64_t> ids;
  if (options.add_special && add_begin_) ids.push_back(*specials_.begin);
  added_->finder.split(
      text, options.find_special,
      [&](std::string_view part) {
        auto const found = encode_part(part);
        ids.insert(ids.end(), found.begin(), found.end());
      },
      [&](std::uint32_t id) { ids.push_back(id); });
  if (options.add_special && add_end_) ids.push_back(*specials_.end);
  return ids;
}

REDCO_INLINE std::string sentencepiece_tokenizer::decode(std::span<std::int64_t const> ids,
                                                         decode_options options) const {
  return detail::decoded(*this, ids, options);
}

REDCO_INLINE bool sentencepiece_tokenizer::append(std::string& bytes, std::int64_t id, bool first) const {
  if (auto const added = added_->texts.find(id); added != added_->texts.end()) {
    bytes += added->second;
    return true;
  }
  if (id < 0 || id >= model_->size()) return false;
  auto const number = static_cast<int>(id);
  std::string piece = model_->piece(number);
  if (model_->is_unknown(number)) {
    bytes += " \xE2\x81\x87 ";
    return true;
  }
  if (model_->is_byte(number)) {
    bytes += detail::fallback_byte(piece);
    return true;
  }
  bool const marked = first && piece.starts_with(detail::space_mark) && (drops_one_space_ || drops_all_spaces_);
  if (marked) piece.erase(0, detail::space_mark.size());
  bytes += detail::replaced(piece, detail::space_mark, " ");
  return !piece.empty() || !drops_all_spaces_;
}

REDCO_INLINE std::int64_t sentencepiece_tokenizer::vocabulary_size() const {
  auto const& added = added_->texts;
  return std::max<std::int64_t>(model_->size(), added.empty() ? 0 : std::prev(added.end())->first + 1);
}

}  // namespace redco::tokenizer
