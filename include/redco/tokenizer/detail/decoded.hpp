#pragma once

#include <redco/tokenizer/detail/space_cleaner.hpp>
#include <redco/tokenizer/detail/utf8.hpp>
#include <redco/tokenizer/tokenizer.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace redco::tokenizer::detail {

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
  if (well_formed_prefix(bytes) == bytes.size()) {
    text = std::move(bytes);
  } else {
    append_well_formed(text, bytes);
  }
  if (!cleans_spaces(tokenizer)) return text;
  space_cleaner cleaner;
  return cleaner.put(std::move(text)) + cleaner.finish();
}

}  // namespace redco::tokenizer::detail
