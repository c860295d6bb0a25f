#pragma once

#include <redco/tokenizer/detail/unicode/combining.hpp>
#include <redco/tokenizer/detail/unicode/pairs.hpp>
#include <redco/tokenizer/detail/unicode/singles.hpp>
#include <redco/tokenizer/detail/utf8.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace redco::detail {

// Normalization Forms C and D (Unicode Standard Annex 15). Hangul syllables: section 3.12 of the standard.
inline constexpr char32_t hangul_syllable = 0xAC00, hangul_l = 0x1100, hangul_v = 0x1161, hangul_t = 0x11A7;
inline constexpr char32_t hangul_v_count = 21, hangul_t_count = 28;
inline constexpr char32_t hangul_vt_count = hangul_v_count * hangul_t_count, hangul_count = 19 * hangul_vt_count;

inline char32_t combining_class(char32_t c) {
  if (c < 0x300) return 0;
  code_class const* const row = row_of(combining_classes, c);
  return row != nullptr && c <= row->last ? row->combining : 0;
}

/// Appends the full canonical decomposition of a code point.
inline void append_decomposed(std::vector<char32_t>& out, char32_t c) {
  if (c < 0xC0) {
    out.push_back(c);
  } else if (c - hangul_syllable < hangul_count) {
    char32_t const s = c - hangul_syllable;
    out.push_back(hangul_l + s / hangul_vt_count);
    out.push_back(hangul_v + s % hangul_vt_count / hangul_t_count);
    if (s % hangul_t_count != 0) out.push_back(hangul_t + s % hangul_t_count);
  } else if (code_pair const* const pair = row_of(decomposed_pairs, c); pair != nullptr && pair->first == c) {
    append_decomposed(out, pair->left);
    append_decomposed(out, pair->right);
  } else if (code_single const* const one = row_of(decomposed_singles, c); one != nullptr && one->first == c) {
    append_decomposed(out, one->other);
  } else {
    out.push_back(c);
  }
}

/// Pairs that become one code point, ascending, and the second ones among them.
struct composition_table {
  std::vector<std::tuple<char32_t, char32_t, char32_t>> pairs;
  std::vector<char32_t> seconds;

  composition_table() {
    for (code_pair const& pair : decomposed_pairs) {
      if (std::binary_search(std::begin(not_composed), std::end(not_composed), pair.first)) continue;
      pairs.emplace_back(pair.left, pair.right, pair.first);
      seconds.push_back(pair.right);
    }
    std::sort(pairs.begin(), pairs.end());
    std::sort(seconds.begin(), seconds.end());
  }
};
inline composition_table const& compositions() {
  static composition_table const table;
  return table;
}

/// What two neighbours become, or 0.
inline char32_t composed(char32_t left, char32_t right) {
  if (left - hangul_l < 19 && right - hangul_v < hangul_v_count)
    return hangul_syllable + ((left - hangul_l) * hangul_v_count + (right - hangul_v)) * hangul_t_count;
  if (left - hangul_syllable < hangul_count && (left - hangul_syllable) % hangul_t_count == 0 && right > hangul_t &&
      right - hangul_t < hangul_t_count)
    return left + (right - hangul_t);
  auto const& pairs = compositions().pairs;
  auto const found = std::lower_bound(pairs.begin(), pairs.end(), std::tuple(left, right, char32_t{0}));
  if (found == pairs.end() || std::get<0>(*found) != left || std::get<1>(*found) != right) return 0;
  return std::get<2>(*found);
}

/// Whether nothing in front of `c` can change or be changed by it.
inline bool begins_cluster(char32_t c) {
  if (c < 0x300) return true;
  if (c - hangul_syllable < hangul_count) return true;
  if (c - hangul_v < hangul_v_count || c - hangul_t < hangul_t_count) return false;
  for (bool whole = false; !whole;) {  // the first code point of its decomposition
    if (auto const* const pair = row_of(decomposed_pairs, c); pair != nullptr && pair->first == c) {
      c = pair->left;
    } else if (auto const* const one = row_of(decomposed_singles, c); one != nullptr && one->first == c) {
      c = one->other;
    } else {
      whole = true;
    }
  }
  auto const& seconds = compositions().seconds;
  return combining_class(c) == 0 && !std::binary_search(seconds.begin(), seconds.end(), c);
}

/// Sorts the marks behind each base by their classes.
inline void order_marks(std::vector<char32_t>& codes) {
  for (auto first = codes.begin(); first != codes.end();) {
    first = std::find_if(first, codes.end(), [](char32_t c) { return combining_class(c) != 0; });
    auto const last = std::find_if(first, codes.end(), [](char32_t c) { return combining_class(c) == 0; });
    std::stable_sort(first, last, [](char32_t a, char32_t b) { return combining_class(a) < combining_class(b); });
    first = last;
  }
}

/// Puts together what belongs together in ordered, decomposed text.
inline void compose(std::vector<char32_t>& codes) {
  std::size_t kept = 0;
  std::size_t base = codes.size();  // place of the last code point of class 0; none yet
  char32_t last_class = 0;
  for (char32_t const c : codes) {
    char32_t const own_class = combining_class(c);
    bool const blocked = base >= kept || (base + 1 < kept && last_class >= own_class);
    if (char32_t const whole = blocked ? 0 : composed(codes[base], c); whole != 0) {
      codes[base] = whole;
      continue;
    }
    if (own_class == 0) base = kept;
    last_class = own_class;
    codes[kept++] = c;
  }
  codes.resize(kept);
}

/// Normalization Form C (`together`) or D of well-formed UTF-8. Linear but for runs of marks, which are sorted.
inline std::string normal_form(std::string_view text, bool together) {
  std::string out;
  out.reserve(text.size());
  std::vector<char32_t> cluster;
  auto const flush = [&] {
    if (cluster.size() > 1) {
      order_marks(cluster);
      if (together) compose(cluster);
    }
    for (char32_t const c : cluster) append_code_point(out, c);
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
    if (begins_cluster(c)) flush();
    append_decomposed(cluster, c);
  }
  flush();
  return out;
}

}  // namespace redco::detail
