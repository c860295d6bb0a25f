#pragma once

#include <redco/tokenizer/detail/utf8.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace redco::tokenizer::detail {

/// Returns GPT-2's byte alphabet: a table from each byte to a visible character. Printable Latin-1
/// bytes map to themselves. All other bytes map to U+0100, U+0101, ... in order.
inline std::array<char32_t, 256> const& byte_alphabet() {
  static std::array<char32_t, 256> const table = [] {
    std::array<char32_t, 256> made{};
    char32_t spare = 256;
    for (char32_t b = 0; b < 256; ++b) {
      bool const printable = (b >= 33 && b <= 126) || (b >= 161 && b != 173);
      made[b] = printable ? b : spare++;
    }
    return made;
  }();
  return table;
}

/// Returns the bytes that a token represents, if all its characters are in GPT-2's byte alphabet
/// (one visible character per byte). Returns any other token unchanged.
inline std::string bytes_of(std::string_view token) {
  static std::array<int, 324> const byte_of = [] {
    std::array<int, 324> made{};
    made.fill(-1);
    for (int b = 0; b < 256; ++b) made[byte_alphabet()[static_cast<std::size_t>(b)]] = b;
    return made;
  }();
  std::string bytes;
  for (std::size_t i = 0; i < token.size(); i += utf8_size(token[i])) {
    char32_t const c = code_point(token.substr(i));
    if (c >= byte_of.size() || byte_of[c] < 0) return std::string(token);
    bytes += static_cast<char>(byte_of[c]);
  }
  return bytes;
}

/// Returns `bytes` written in GPT-2's byte alphabet, which has one visible character per byte.
inline std::string in_byte_alphabet(std::string_view bytes) {
  std::string text;
  for (char const b : bytes) append_code_point(text, byte_alphabet()[static_cast<unsigned char>(b)]);
  return text;
}

}  // namespace redco::tokenizer::detail
