#pragma once

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace redco::tokenizer::detail {

// Character classes of BERT, with the categories of Unicode 8 that Hugging Face's tokenizers 0.22
// uses. The result does not depend on the Unicode version of utf8proc.

struct code_range {
  char32_t first, last;
};

/// Returns true if one of the ranges of code points contains `c`. The ranges must be in ascending
/// order.
template <std::size_t N>
bool holds(code_range const (&ranges)[N], char32_t c) {
  auto const* const behind =
      std::upper_bound(ranges, ranges + N, c, [](char32_t code, code_range r) { return code < r.first; });
  return behind != ranges && c <= std::prev(behind)->last;
}

// clang-format off
/// Ranges of code points that Unicode 8 does not assign (DerivedAge.txt), and that contain a mark,
/// punctuation, a control or a decomposition in Unicode 17.
inline constexpr code_range younger_than_8[] = {
    {0x61d, 0x61d}, {0x7fb, 0x7ff}, {0x85f, 0x89f}, {0x8b5, 0x8e2}, {0x9fc, 0xa00}, {0xa76, 0xa80}, {0xafa, 0xb00},
    {0xb4e, 0xb55}, {0xc04, 0xc04}, {0xc3a, 0xc3c}, {0xc70, 0xc77}, {0xc84, 0xc84}, {0xcf3, 0xd00}, {0xd3b, 0xd3c},
    {0xd80, 0xd81}, {0xeba, 0xeba}, {0xece, 0xecf}, {0x1715, 0x171f}, {0x180f, 0x180f}, {0x1abf, 0x1aff},
    {0x1b4c, 0x1b4f}, {0x1b7d, 0x1b7f}, {0x1df6, 0x1dfb}, {0x2e43, 0x2e7f}, {0xa82c, 0xa82f}, {0xa8c5, 0xa8cd},
    {0xa8fe, 0xa8ff}, {0x10570, 0x105ff}, {0x10d00, 0x10e5f}, {0x10e7f, 0x10fff}, {0x11070, 0x1107e},
    {0x110c2, 0x110cf}, {0x111ce, 0x111cf}, {0x1123e, 0x1127f}, {0x1133a, 0x1133b}, {0x11375, 0x1147f},
    {0x1165a, 0x1167f}, {0x116b8, 0x116bf}, {0x11740, 0x1189f}, {0x11900, 0x11abf}, {0x11af9, 0x11fff},
    {0x12544, 0x12fff}, {0x1342f, 0x143ff}, {0x14647, 0x167ff}, {0x16b90, 0x16eff}, {0x16f45, 0x16f4f},
    {0x16fa0, 0x1afff}, {0x1bca4, 0x1cfff}, {0x1dab0, 0x1e7ff}, {0x1e8d7, 0x1edff},
};
// clang-format on

/// Returns the general category of the code point `c` in Unicode 8. Returns Cn (unassigned) for
/// code points that Unicode 8 does not assign, and for three code points that later became
/// nonspacing marks.
inline utf8proc_category_t category_of_8(char32_t c) {
  switch (c) {
    case 0x166D:
    case 0x111C9: return UTF8PROC_CATEGORY_PO;
    case 0x1734:
    case 0x1171E: return UTF8PROC_CATEGORY_MN;
    case 0x1885:
    case 0x1886:
    case 0xA9BD: return UTF8PROC_CATEGORY_CN;
    default:
      return holds(younger_than_8, c) ? UTF8PROC_CATEGORY_CN : utf8proc_category(static_cast<utf8proc_int32_t>(c));
  }
}

/// Returns true if the code point `c` has the Unicode property White_Space.
inline bool is_white_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

/// Returns true if BERT makes the code point `c` a word of its own: general category P, or ASCII
/// other than letters, digits, spaces and controls.
inline bool is_bert_punctuation(char32_t c) {
  if (c < 0x80)
    return c > 0x20 && c < 0x7F && !(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z');
  auto const category = category_of_8(c);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

/// Returns true if BERT removes the code point `c`: U+FFFD, or general category Cc, Cf or Co,
/// except ASCII tab, newline and carriage return.
inline bool is_bert_control(char32_t c) {
  if (c < 0x80) return c == 0x7F || (c < 0x20 && c != '\t' && c != '\n' && c != '\r');
  auto const category = category_of_8(c);
  return c == 0xFFFD || category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_CO;
}

/// Returns true if the code point `c` is a CJK ideograph, around which BERT puts spaces.
inline bool is_ideograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

/// Returns true if the code point `c` is a nonspacing mark (general category Mn), which BERT
/// removes when it strips accents.
inline bool is_bert_mark(char32_t c) { return c >= 0x300 && category_of_8(c) == UTF8PROC_CATEGORY_MN; }

}  // namespace redco::tokenizer::detail
