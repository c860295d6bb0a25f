#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace redco::meta {

/// A description of the first code point of a text. If `valid`, `bytes` is the length of the code
/// point. Otherwise `bytes` is the length of the invalid bytes that one U+FFFD replaces: the
/// longest prefix of a code point, but at least one byte. `cut` is true if further bytes could
/// complete the code point.
struct utf8_front {
  std::size_t bytes;
  bool valid;
  bool cut = false;
};

/// Returns a description of the first code point of `text`, which must not be empty. Surrogates and
/// overlong encodings count as invalid (Unicode 15, table 3-7).
inline utf8_front utf8_front_of(std::string_view text) {
  auto const byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned const lead = byte(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  std::size_t const size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  for (std::size_t i = 1; i < size; ++i) {
    if (i == text.size()) return {i, false, true};
    unsigned low = 0x80;
    unsigned high = 0xBF;
    if (i == 1) {
      if (lead == 0xE0) low = 0xA0;
      if (lead == 0xED) high = 0x9F;
      if (lead == 0xF0) low = 0x90;
      if (lead == 0xF4) high = 0x8F;
    }
    if (byte(i) < low || byte(i) > high) return {i, false};
  }
  return {size, true};
}

/// Returns the number of bytes of a code point whose first byte is `lead`. Requires well-formed
/// UTF-8.
inline std::size_t utf8_size(char lead) {
  auto const byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// Returns the first code point of `text`, which must be well-formed UTF-8 and not empty.
inline char32_t code_point(std::string_view text) {
  auto const byte = [text](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
  switch (utf8_size(text[0])) {
    case 1: return byte(0);
    case 2: return (byte(0) & 0x1FU) << 6 | (byte(1) & 0x3FU);
    case 3: return (byte(0) & 0x0FU) << 12 | (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU);
    default: return (byte(0) & 0x07U) << 18 | (byte(1) & 0x3FU) << 12 | (byte(2) & 0x3FU) << 6 | (byte(3) & 0x3FU);
  }
}

inline void append_code_point(std::string& text, char32_t c) {
  auto const tail = [&text, c](int shift) { text += static_cast<char>(0x80U | (c >> shift & 0x3FU)); };
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xC0U | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    text += static_cast<char>(0xE0U | c >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0U | c >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

/// Returns the length in bytes of the longest prefix of `text` that is all ASCII.
inline std::size_t ascii_prefix(std::string_view text) {
  std::size_t i = 0;
  for (std::uint64_t eight; i + sizeof eight <= text.size(); i += sizeof eight) {
    std::memcpy(&eight, text.data() + i, sizeof eight);
    if ((eight & 0x8080808080808080U) != 0) break;
  }
  while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) ++i;
  return i;
}

/// Returns the length in bytes of the longest prefix of `text` that is well-formed UTF-8.
inline std::size_t well_formed_prefix(std::string_view text) {
  std::size_t at = ascii_prefix(text);
  while (at < text.size()) {
    utf8_front const front = utf8_front_of(text.substr(at));
    if (!front.valid) break;
    at += front.bytes;
    if (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) at += ascii_prefix(text.substr(at));
  }
  return at;
}

/// Appends `text` to `out` and replaces invalid UTF-8 by U+FFFD. One U+FFFD replaces each longest
/// prefix of a code point. WHATWG, Python's errors="replace" and Rust's from_utf8_lossy use this
/// rule.
inline void append_well_formed(std::string& out, std::string_view text) {
  while (!text.empty()) {
    std::size_t const good = well_formed_prefix(text);
    out += text.substr(0, good);
    text.remove_prefix(good);
    if (text.empty()) return;
    out += "\xEF\xBF\xBD";
    text.remove_prefix(utf8_front_of(text).bytes);
  }
}

/// Returns the number of bytes at the end of `text` that are the beginning of an incomplete code
/// point; 0 if there are none.
inline std::size_t incomplete_tail(std::string_view text) {
  for (std::size_t n = 1; n <= 3 && n <= text.size(); ++n) {
    utf8_front const front = utf8_front_of(text.substr(text.size() - n));
    if (front.cut && front.bytes == n) return n;
  }
  return 0;
}

}  // namespace redco::meta
