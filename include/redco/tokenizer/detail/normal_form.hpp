#pragma once

#include <redco/tokenizer/detail/unicode.hpp>
#include <redco/tokenizer/detail/utf8.hpp>

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace redco::tokenizer::detail {

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
    for (auto const c : cluster) append_code_point(out, static_cast<char32_t>(c));
    cluster.clear();
  };
  while (!text.empty()) {
    if (std::size_t const ascii = ascii_prefix(text); ascii > 1) {
      flush();
      out += text.substr(0, ascii - 1);  // the last ASCII character may be followed by marks
      text.remove_prefix(ascii - 1);
    }
    char32_t const c = code_point(text);
    text.remove_prefix(utf8_size(text[0]));
    if (unknown_to_9(c) || (compatible && holds(compatible_since_9, c))) {
      flush();
      append_code_point(out, c);
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
