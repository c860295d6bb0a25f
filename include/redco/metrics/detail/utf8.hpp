#pragma once

#include <redco/meta/utf8.hpp>

#include <cstddef>
#include <string_view>

namespace redco::metrics::detail {

/// The first code point of a text and its number of bytes. Bytes that are not UTF-8 count one by
/// one, as the code points U+DC80 to U+DCFF, which no valid text contains.
struct first_code_point {
  char32_t value;
  std::size_t bytes;
};

/// Returns the first code point of `text`, which must not be empty.
inline first_code_point first_code_point_of(std::string_view text) {
  meta::utf8_front const front = meta::utf8_front_of(text);
  if (front.valid) return {meta::code_point(text), front.bytes};
  return {0xDC00 + static_cast<char32_t>(static_cast<unsigned char>(text[0])), 1};
}

/// Returns true if Python's str.split() separates words at the code point.
inline bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

/// Calls f(c, bytes) for each code point `c` of `text`.
template <class F>
void for_each_code_point(std::string_view text, F&& f) {
  while (!text.empty()) {
    first_code_point const first = first_code_point_of(text);
    f(first.value, text.substr(0, first.bytes));
    text.remove_prefix(first.bytes);
  }
}

}  // namespace redco::metrics::detail
