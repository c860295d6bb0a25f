#pragma once

#include <redco/meta/utf8.hpp>

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

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
  auto const* const after =
      std::upper_bound(ranges, ranges + N, c, [](char32_t code, code_range r) { return code < r.first; });
  return after != ranges && c <= std::prev(after)->last;
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

/// A range {first, last} of capital letters whose lower case was added in Unicode 16 or 17, and the
/// number to add to a capital letter. utf8proc knows these letters only since version 2.11.
struct late_lower_case {
  char32_t first, last;
  int add;
};
inline constexpr late_lower_case late_lower_cases[] = {
    {0x1C89, 0x1C89, 1},      {0xA7CB, 0xA7CB, -0xA567}, {0xA7CC, 0xA7CC, 1}, {0xA7CE, 0xA7CE, 1},
    {0xA7D2, 0xA7D2, 1},      {0xA7D4, 0xA7D4, 1},       {0xA7DA, 0xA7DA, 1}, {0xA7DC, 0xA7DC, -0xA641},
    {0x10D50, 0x10D65, 0x20}, {0x16EA0, 0x16EB8, 0x1B},
};

/// Appends the lower case of the code point `c` to `text`. The result does not depend on adjacent
/// code points.
inline void append_lower(std::string& text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    return;
  }
  if (c == 0x130) {  // the only code point whose lower case has two code points
    text += "i\xCC\x87";
    return;
  }
  auto lower = utf8proc_tolower(static_cast<utf8proc_int32_t>(c));
  if (c >= late_lower_cases[0].first) {
    for (late_lower_case const& late : late_lower_cases) {
      if (c >= late.first && c <= late.last) lower = static_cast<utf8proc_int32_t>(c) + late.add;
    }
  }
  meta::append_code_point(text, static_cast<char32_t>(lower));
}

// Normalization Forms C, D, KC and KD (Unicode Standard Annex 15) of Unicode 9, equal to Hugging
// Face's tokenizers 0.22 with any version of utf8proc. Unicode's stability policy guarantees that
// text assigned in Unicode 9 keeps its forms in later versions.

/// Ranges of the code points that Unicode 9 added as marks with a combining class.
inline constexpr code_range marks_of_9[] = {
    {0x8D4, 0x8E1},     {0x1DFB, 0x1DFB},   {0x11442, 0x11442}, {0x11446, 0x11446},
    {0x11C3F, 0x11C3F}, {0x1E000, 0x1E02A}, {0x1E944, 0x1E94A},
};

/// Returns true if Unicode 9 does not assign `c`. Normalization then leaves `c` unchanged and in
/// place, as Hugging Face's `tokenizers` does.
inline bool unknown_to_9(char32_t c) { return holds(younger_than_8, c) && !holds(marks_of_9, c); }

/// Ranges of code points that Unicode 9 does not assign, but that have a compatibility
/// decomposition in later versions.
inline constexpr code_range compatible_since_9[] = {
    {0x32FF, 0x32FF},   {0xA7F1, 0xA7F4},   {0xAB69, 0xAB69},   {0x10781, 0x107BA},
    {0x1CCD6, 0x1CCF9}, {0x1E030, 0x1E06D}, {0x1F16C, 0x1F16C}, {0x1FBF0, 0x1FBF9},
};

inline int combining_class(utf8proc_int32_t c) { return c < 0x300 ? 0 : utf8proc_get_property(c)->combining_class; }

/// Returns true if `c` begins a cluster, which normalization never combines with preceding text.
/// `c` is then neither a mark nor a later part of a Hangul syllable.
inline bool begins_cluster(char32_t c) {
  if (c < 0x300) return true;
  if ((c >= 0x1161 && c <= 0x1175) || (c >= 0x11A8 && c <= 0x11C2)) return false;
  auto const category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category < UTF8PROC_CATEGORY_MN || category > UTF8PROC_CATEGORY_ME;
}

/// A full Unicode decomposition of one code point, either canonical or for compatibility.
struct decomposition {
  utf8proc_int32_t parts[18];  // 18: the longest decomposition, of U+FDFA
  std::ptrdiff_t count;

  decomposition(char32_t c, bool compatible) {
    auto const options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0));
    count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts, std::ssize(parts), options, nullptr);
  }
};

/// Sorts each sequence of adjacent combining marks in `codes` by combining class (canonical
/// ordering of Unicode).
inline void order_marks(std::vector<utf8proc_int32_t>& codes) {
  for (auto first = codes.begin(); first != codes.end();) {
    first = std::find_if(first, codes.end(), [](auto c) { return combining_class(c) != 0; });
    auto const last = std::find_if(first, codes.end(), [](auto c) { return combining_class(c) == 0; });
    std::stable_sort(first, last, [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    first = last;
  }
}

/// Composes decomposed code points with ordered marks to Normalization Form C, in place.
inline void compose(std::vector<utf8proc_int32_t>& codes) {
  auto const options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  auto const kept = utf8proc_normalize_utf32(codes.data(), static_cast<utf8proc_ssize_t>(codes.size()), options);
  codes.resize(static_cast<std::size_t>(kept));
}

/// Returns a Unicode normalization form of well-formed UTF-8: composed (C or KC) if `together`,
/// otherwise decomposed (D or KD). `compatible` selects KC or KD. Takes linear time, except for
/// sorting sequences of adjacent marks.
inline std::string normal_form(std::string_view text, bool together, bool compatible = false) {
  std::string out;
  out.reserve(text.size());
  std::vector<utf8proc_int32_t> cluster;
  auto const flush = [&] {
    if (cluster.size() > 1) {
      order_marks(cluster);
      if (together) compose(cluster);
    }
    for (auto const c : cluster) meta::append_code_point(out, static_cast<char32_t>(c));
    cluster.clear();
  };
  while (!text.empty()) {
    if (std::size_t const ascii = meta::ascii_prefix(text); ascii > 1) {
      flush();
      out += text.substr(0, ascii - 1);  // the last ASCII character may be followed by marks
      text.remove_prefix(ascii - 1);
    }
    char32_t const c = meta::code_point(text);
    text.remove_prefix(meta::utf8_size(text[0]));
    if (unknown_to_9(c) || (compatible && holds(compatible_since_9, c))) {
      flush();
      meta::append_code_point(out, c);
      continue;
    }
    decomposition const full(c, compatible);
    if (begins_cluster(static_cast<char32_t>(full.parts[0]))) flush();
    cluster.insert(cluster.end(), full.parts, full.parts + full.count);
  }
  flush();
  return out;
}

}  // namespace redco::tokenizer::detail
