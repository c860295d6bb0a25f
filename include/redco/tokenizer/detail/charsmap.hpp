#pragma once

#include <redco/tokenizer/detail/json_node.hpp>
#include <redco/meta/utf8.hpp>

#include <utf8proc.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redco::tokenizer::detail {

/// Returns the bytes decoded from base64 (RFC 4648, with padding), or nullopt if `text` is not
/// base64.
inline std::optional<std::string> from_base64(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t const padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  text.remove_suffix(padding);
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (char const c : text) {
    std::size_t const digit = digits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xFFU);
  }
  return bytes;
}

/// A table of text replacements of SentencePiece, such as nmt_nfkc. Replaces text as the normalizer
/// Precompiled of Hugging Face's `tokenizers` library does. If keys of the table begin a grapheme
/// cluster of at most 5 bytes, the text of the shortest key replaces the whole cluster. Otherwise
/// each code point is replaced separately.
///
/// The table is a double-array trie (Aoe, 1989) of keys. Its values are offsets into a buffer of
/// NUL-terminated texts.
class charsmap {
 public:
  explicit charsmap(json_node const& node) {
    auto const bytes = from_base64(node.text());
    std::uint32_t size = 0;
    if (bytes && bytes->size() >= sizeof size) std::memcpy(&size, bytes->data(), sizeof size);
    if (!bytes || size % sizeof(std::uint32_t) != 0 || size == 0 || bytes->size() - sizeof size < size)
      node.refuse("is no table of SentencePiece in base64; write the file again with the program that made it");
    units_.resize(size / sizeof(std::uint32_t));
    std::memcpy(units_.data(), bytes->data() + sizeof size, size);
    texts_ = bytes->substr(sizeof size + size);
    if (meta::well_formed_prefix(texts_) != texts_.size())
      node.refuse("has replacements that are no UTF-8; write the file again with the program that made it");
    for (std::size_t c = 0; c < ascii_.size(); ++c) {
      char const one = static_cast<char>(c);
      ascii_[c] = replacement({&one, 1}).value_or(std::string_view(&bytes_of_ascii[c], 1));
    }
  }

  std::string operator()(std::string_view text) const {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
      std::size_t const size = cluster(text);
      append(out, text.substr(0, size));
      text.remove_prefix(size);
    }
    return out;
  }

 private:
  // Maximum bytes of a cluster that is replaced as a whole
  static constexpr std::size_t longest_whole = 5;

  static constexpr auto bytes_of_ascii = [] {
    std::array<char, 128> all{};
    for (std::size_t c = 0; c < all.size(); ++c) all[c] = static_cast<char>(c);
    return all;
  }();

  static bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

  // Returns the bytes of the extended grapheme cluster (Unicode Standard Annex 29) at the beginning
  // of `text`.
  static std::size_t cluster(std::string_view text) {
    if (is_ascii(text[0]) && (text.size() == 1 || (is_ascii(text[1]) && text[1] != '\n'))) return 1;
    utf8proc_int32_t state = 0;
    std::size_t size = meta::utf8_size(text[0]);
    for (char32_t before = meta::code_point(text); size < text.size();) {
      char32_t const next = meta::code_point(text.substr(size));
      if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before), static_cast<utf8proc_int32_t>(next),
                                           &state))
        break;
      size += meta::utf8_size(text[size]);
      before = next;
    }
    return size;
  }

  void append(std::string& out, std::string_view part) const {
    if (part.size() == 1) {
      out += ascii_[static_cast<unsigned char>(part[0])];
      return;
    }
    if (part.size() <= longest_whole) {
      if (auto const whole = replacement(part)) {
        out += *whole;
        return;
      }
    }
    for (std::size_t i = 0; i < part.size(); i += meta::utf8_size(part[i])) {
      std::string_view const one = part.substr(i, meta::utf8_size(part[i]));
      out += replacement(one).value_or(one);
    }
  }

  // Returns the text that replaces the shortest key at the beginning of `text`, or nullopt without
  // such a key.
  std::optional<std::string_view> replacement(std::string_view text) const {
    auto const offset = [](std::uint32_t unit) { return unit >> 10 << ((unit & 0x200U) >> 6); };
    std::size_t at = offset(units_[0]);
    for (char const c : text) {
      auto const byte = static_cast<unsigned char>(c);
      at ^= byte;
      if (byte == 0 || at >= units_.size()) return std::nullopt;
      std::uint32_t const unit = units_[at];
      if ((unit & 0x800000FFU) != byte) return std::nullopt;
      at ^= offset(unit);
      if ((unit & 0x100U) != 0) return at < units_.size() ? text_at(units_[at] & 0x7FFFFFFFU) : std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<std::string_view> text_at(std::size_t begin) const {
    if (begin >= texts_.size() || (static_cast<unsigned char>(texts_[begin]) & 0xC0U) == 0x80) return std::nullopt;
    return std::string_view(texts_).substr(begin, texts_.find('\0', begin) - begin);
  }

  std::vector<std::uint32_t> units_;
  std::string texts_;
  std::array<std::string, 128> ascii_;
};

}  // namespace redco::tokenizer::detail
