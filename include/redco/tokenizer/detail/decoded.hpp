#pragma once

#include <redco/tokenizer/tokenizer.hpp>
#include <redco/meta/utf8.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace redco::tokenizer::detail {

/// A filter that removes the spaces that word-based vocabularies leave before punctuation and in
/// English contractions. Applies the ten replacements of clean_up_tokenization of transformers, one
/// after another. The text may arrive in pieces: the end of a piece that could begin a match is
/// buffered. Thus the result does not depend on the boundaries of the pieces.
class space_cleaner {
 public:
  /// Adds `piece` to the text and returns the cleaned text that no later piece can change.
  std::string put(std::string piece) { return passed(std::move(piece), false); }
  /// Ends the text and returns its buffered rest. The next call of put() begins another text.
  std::string finish() { return passed({}, true); }

 private:
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> changes{{{" .", "."},
                                                                                          {" ?", "?"},
                                                                                          {" !", "!"},
                                                                                          {" ,", ","},
                                                                                          {" ' ", "'"},
                                                                                          {" n't", "n't"},
                                                                                          {" 'm", "'m"},
                                                                                          {" 's", "'s"},
                                                                                          {" 've", "'ve"},
                                                                                          {" 're", "'re"}}};

  std::string passed(std::string text, bool last) {
    for (std::size_t i = 0; i < changes.size(); ++i) {
      auto const& [from, to] = changes[i];
      std::string const input = std::exchange(held_[i], {}) + text;
      text.clear();
      std::size_t begin = 0;
      for (std::size_t at = 0; (at = input.find(from, begin)) != std::string::npos; begin = at + from.size())
        text.append(input, begin, at - begin) += to;
      std::string_view const rest = std::string_view(input).substr(begin);
      std::size_t held = last ? 0 : std::min(rest.size(), from.size() - 1);
      while (!from.starts_with(rest.substr(rest.size() - held))) --held;
      text += rest.substr(0, rest.size() - held);
      held_[i] = rest.substr(rest.size() - held);
    }
    return text;
  }

  // For each replacement, the buffered end of its input
  std::array<std::string, changes.size()> held_;
};

/// Returns true if `id` is the id of a special token. Decoding omits special tokens.
inline bool is_special(special_ids const& specials, std::int64_t id) {
  return std::binary_search(specials.all.begin(), specials.all.end(), id);
}

/// Returns the text of token ids for any tokenizer. Joins the bytes of all tokens and replaces
/// invalid UTF-8. If cleans_spaces(tokenizer) is true, removes spaces before punctuation.
template <class Tokenizer>
std::string decoded(Tokenizer const& tokenizer, std::span<std::int64_t const> ids, decode_options options) {
  std::string bytes;
  bool first = true;
  for (std::int64_t const id : ids) {
    if (!options.keep_special && is_special(tokenizer.specials(), id)) continue;
    if (tokenizer.append(bytes, id, first)) first = false;
  }
  std::string text;
  if (meta::well_formed_prefix(bytes) == bytes.size()) {
    text = std::move(bytes);
  } else {
    meta::append_well_formed(text, bytes);
  }
  if (!cleans_spaces(tokenizer)) return text;
  space_cleaner cleaner;
  text = cleaner.put(std::move(text));
  return text += cleaner.finish();
}

}  // namespace redco::tokenizer::detail
