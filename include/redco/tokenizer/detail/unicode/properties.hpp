#pragma once

#include <redco/tokenizer/detail/unicode/controls.hpp>
#include <redco/tokenizer/detail/unicode/lower.hpp>
#include <redco/tokenizer/detail/unicode/marks.hpp>
#include <redco/tokenizer/detail/unicode/punctuation.hpp>
#include <redco/tokenizer/detail/utf8.hpp>

#include <string>

namespace redco::detail {

/// The property White_Space.
inline bool is_white_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

/// What BERT splits off: general category P, and all of ASCII that is neither letter, digit, space nor control.
inline bool is_bert_punctuation(char32_t c) {
  if (c < 0x80)
    return c > 0x20 && c < 0x7F && !(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z');
  return holds(punctuation_ranges, c);
}

/// What BERT drops.
inline bool is_bert_control(char32_t c) { return holds(control_ranges, c); }

/// What BERT sets apart: the blocks of CJK ideographs.
inline bool is_ideograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

/// What BERT strips: an accent that stands alone.
inline bool is_bert_mark(char32_t c) { return c >= 0x300 && holds(mark_ranges, c); }

/// Appends the lower case of one code point, which does not depend on its neighbours.
inline void append_lower(std::string& text, char32_t c) {
  if (c == 0x130) {
    text += "i\xCC\x87";
    return;
  }
  code_lower const* const row = row_of(lower_cases, c);
  bool const moves = row != nullptr && c <= row->last && (c - row->first) % row->step == 0;
  append_code_point(text, moves ? static_cast<char32_t>(c + row->add) : c);
}

}  // namespace redco::detail
