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

namespace redco::detail {

// Normalization Forms C, D, KC and KD (Unicode Standard Annex 15) of Unicode 9, as Hugging Face's
// tokenizers 0.22 computes them, whichever Unicode utf8proc has. Text that Unicode 9 assigns has
// the same forms ever after (its stability policy).

/// Code points of younger_than_8 that Unicode 9 has as marks with a class.
inline constexpr code_range marks_of_9[] = {
    {0x8D4, 0x8E1},     {0x1DFB, 0x1DFB},   {0x11442, 0x11442}, {0x11446, 0x11446},
    {0x11C3F, 0x11C3F}, {0x1E000, 0x1E02A}, {0x1E944, 0x1E94A},
};

/// Whether Unicode 9 knows nothing of `c`: it is neither decomposed, nor sorted, nor put together with a neighbour.
inline bool unknown_to_9(char32_t c) { return holds(younger_than_8, c) && !holds(marks_of_9, c); }

/// Code points with a compatibility decomposition that Unicode 9 does not assign.
inline constexpr code_range compatible_since_9[] = {
    {0x32FF, 0x32FF},   {0xA7F1, 0xA7F4},   {0xAB69, 0xAB69},   {0x10781, 0x107BA},
    {0x1CCD6, 0x1CCF9}, {0x1E030, 0x1E06D}, {0x1F16C, 0x1F16C}, {0x1FBF0, 0x1FBF9},
};

inline int combining_class(utf8proc_int32_t c) { return c < 0x300 ? 0 : utf8proc_get_property(c)->combining_class; }

/// Whether nothing in front of `c` can change or be changed by it: it is neither a mark nor a second part of a syllable.
inline bool begins_cluster(char32_t c) {
  if (c < 0x300) return true;
  if ((c >= 0x1161 && c <= 0x1175) || (c >= 0x11A8 && c <= 0x11C2)) return false;
  auto const category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category < UTF8PROC_CATEGORY_MN || category > UTF8PROC_CATEGORY_ME;
}

/// Full decomposition of a code point, canonical or for compatibility.
struct decomposition {
  utf8proc_int32_t parts[18];  // the longest is that of U+FDFA
  std::ptrdiff_t count;

  decomposition(char32_t c, bool compatible) {
    auto const options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0));
    count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts, std::ssize(parts), options, nullptr);
  }
};

/// Sorts the marks behind each base by their classes.
inline void order_marks(std::vector<utf8proc_int32_t>& codes) {
  for (auto first = codes.begin(); first != codes.end();) {
    first = std::find_if(first, codes.end(), [](auto c) { return combining_class(c) != 0; });
    auto const last = std::find_if(first, codes.end(), [](auto c) { return combining_class(c) == 0; });
    std::stable_sort(first, last, [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    first = last;
  }
}

/// Puts together what belongs together in ordered, decomposed text.
inline void compose(std::vector<utf8proc_int32_t>& codes) {
  auto const options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  auto const kept = utf8proc_normalize_utf32(codes.data(), static_cast<utf8proc_ssize_t>(codes.size()), options);
  codes.resize(static_cast<std::size_t>(kept));
}

/// Returns Normalization Form C or KC (`together`), or D or KD, of well-formed UTF-8; `compatible`
/// chooses the forms with K. Linear but for runs of marks, which are sorted.
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
      out += text.substr(0, ascii - 1);  // the last one may have marks behind it
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

}  // namespace redco::detail
