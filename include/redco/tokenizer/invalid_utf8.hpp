#pragma once

#include <redco/meta/utf8.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace redco::tokenizer {

/// A count of the bytes of a text that are not valid UTF-8, and the position of the first of them.
/// Tokenizers read U+FFFD in place of invalid bytes.
struct invalid_utf8 {
  std::size_t bytes = 0;  ///< Number of bytes of the text that are not valid UTF-8
  std::size_t first = 0;  ///< Offset in bytes of the first invalid byte of the text
};

inline invalid_utf8 invalid_utf8_of(std::string_view text) {
  invalid_utf8 found;
  for (std::size_t at = 0;;) {
    at += meta::well_formed_prefix(text.substr(at));
    if (at == text.size()) return found;
    if (found.bytes == 0) found.first = at;
    std::size_t const size = meta::utf8_front_of(text.substr(at)).bytes;
    found.bytes += size;
    at += size;
  }
}

/// Returns `text` with U+FFFD in place of each invalid UTF-8 byte, as tokenizers read it.
inline std::string well_formed(std::string_view text) {
  std::string whole;
  meta::append_well_formed(whole, text);
  return whole;
}

}  // namespace redco::tokenizer
