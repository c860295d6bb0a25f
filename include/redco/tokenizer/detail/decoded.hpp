#pragma once

#include <redco/tokenizer/detail/utf8.hpp>
#include <redco/tokenizer/tokenizer.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

namespace redco::detail {

/// Whether decoding leaves an id out.
inline bool is_special(special_ids const& specials, std::int64_t id) {
  return std::binary_search(specials.all.begin(), specials.all.end(), id);
}

/// The text of ids, id by id.
template <class Tokenizer>
std::string decoded(Tokenizer const& tokenizer, std::span<std::int64_t const> ids, decode_options options) {
  std::string bytes;
  bool first = true;
  for (std::int64_t const id : ids) {
    if (!options.keep_special && is_special(tokenizer.specials(), id)) continue;
    if (tokenizer.append(bytes, id, first)) first = false;
  }
  if (well_formed_prefix(bytes) == bytes.size()) return bytes;
  std::string text;
  append_well_formed(text, bytes);
  return text;
}

}  // namespace redco::detail
