#pragma once

#include <redco/metrics/exact_match.hpp>

#include <redco/metrics/detail/utf8.hpp>
#include <redco/metrics/scores.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/utf8.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace redco::metrics::detail {

/// A range of capitals whose small letters have the same distance from them.
struct capitals {
  char32_t first, last;
  char32_t step;  ///< 2 if capitals and small letters alternate, otherwise 1
  std::int32_t distance;
};

/// The capitals of the alphabets that squad_text() documents, with the distances of Python's
/// str.lower(), and the final sigma.
inline constexpr capitals all_capitals[] = {
    {0x41, 0x5A, 1, 32},    {0xC0, 0xD6, 1, 32},        {0xD8, 0xDE, 1, 32},    {0x100, 0x12E, 2, 1},
    {0x132, 0x136, 2, 1},   {0x139, 0x147, 2, 1},       {0x14A, 0x176, 2, 1},   {0x178, 0x178, 1, -121},
    {0x179, 0x17D, 2, 1},   {0x386, 0x386, 1, 38},      {0x388, 0x38A, 1, 37},  {0x38C, 0x38C, 1, 64},
    {0x38E, 0x38F, 1, 63},  {0x391, 0x3A1, 1, 32},      {0x3A3, 0x3AB, 1, 32},  {0x3C2, 0x3C2, 1, 1},
    {0x400, 0x40F, 1, 80},  {0x410, 0x42F, 1, 32},      {0x460, 0x480, 2, 1},   {0x48A, 0x4BE, 2, 1},
    {0x4C0, 0x4C0, 1, 15},  {0x4C1, 0x4CD, 2, 1},       {0x4D0, 0x52E, 2, 1},   {0x531, 0x556, 1, 48},
    {0x1E00, 0x1E94, 2, 1}, {0x1E9E, 0x1E9E, 1, -7615}, {0x1EA0, 0x1EFE, 2, 1}, {0xFF21, 0xFF3A, 1, 32},
};

inline char32_t lower_case_of(char32_t c) {
  for (capitals const& range : all_capitals)
    if (c >= range.first && c <= range.last && (c - range.first) % range.step == 0)
      return static_cast<char32_t>(static_cast<std::int32_t>(c) + range.distance);
  return c;
}

inline bool is_ascii_punctuation(char32_t c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

struct code_points {
  char32_t first, last;
};

/// Code points that end a word in Python's regular expressions: controls, signs, marks that combine
/// with letters, and the blocks of punctuation, symbols and emoji.
inline constexpr code_points between_words[] = {
    {0x00, 0x2F},     {0x3A, 0x40},     {0x5B, 0x60},     {0x7B, 0xA9},     {0xAB, 0xB1},
    {0xB4, 0xB4},     {0xB6, 0xB8},     {0xBB, 0xBB},     {0xBF, 0xBF},     {0xD7, 0xD7},
    {0xF7, 0xF7},     {0x300, 0x36F},   {0x2000, 0x206F}, {0x20A0, 0x20FF}, {0x2190, 0x245F},
    {0x2500, 0x2775}, {0x2794, 0x2BFF}, {0x3000, 0x3004}, {0x3008, 0x3020}, {0xFE10, 0xFE6F},
    {0xFF01, 0xFF0F}, {0xFF1A, 0xFF20}, {0xFF3B, 0xFF40}, {0xFF5B, 0xFF65}, {0x1F300, 0x1FAFF},
};

inline bool is_between_words(char32_t c) {
  return is_space(c) || std::any_of(std::begin(between_words), std::end(between_words),
                                    [c](code_points const& range) { return c >= range.first && c <= range.last; });
}

inline bool is_article(std::string_view word) { return word == "a" || word == "an" || word == "the"; }

/// Returns the words of `text` with one space between two words. U+0020 is the only white space.
inline std::string with_single_spaces(std::string_view text) {
  std::string result;
  for (char const c : text)
    if (c != ' ' || (!result.empty() && result.back() != ' ')) result += c;
  if (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

}  // namespace redco::metrics::detail

namespace redco::metrics {

REDCO_INLINE std::string squad_text(std::string_view text) {
  std::string all, word;
  auto const end_word = [&] {
    all += detail::is_article(word) ? " " : word;
    word.clear();
  };
  detail::for_each_code_point(text, [&](char32_t c, std::string_view bytes) {
    if (detail::is_ascii_punctuation(c)) return;
    char32_t const lower = detail::lower_case_of(c);
    bool const between = detail::is_between_words(c);
    if (between) end_word();
    std::string& text_of_c = between ? all : word;
    if (detail::is_space(c)) text_of_c += ' ';
    else if (lower == c) text_of_c += bytes;
    else meta::append_code_point(text_of_c, lower);
  });
  end_word();
  return detail::with_single_spaces(all);
}

REDCO_INLINE double exact_match(std::span<std::string const> predicted,
                                std::span<std::vector<std::string> const> accepted, text_comparison comparison) {
  detail::check_counts("exact_match", predicted.size(), "predictions", accepted.size(), "expected answers");
  bool const squad = comparison == text_comparison::squad;
  double right = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    if (accepted[i].empty())
      throw error(exit_code::data, "exact_match: prediction " + std::to_string(i) + " of " +
                                       std::to_string(predicted.size()) +
                                       " (counted from 0) has no accepted text: give at least 1, \"\" for no answer");
    std::string const answer = squad ? squad_text(predicted[i]) : predicted[i];
    bool const found = std::any_of(accepted[i].begin(), accepted[i].end(), [&](std::string const& one) {
      return squad ? squad_text(one) == answer : one == answer;
    });
    right += found ? 1 : 0;
  }
  return right / static_cast<double>(predicted.size());
}

}  // namespace redco::metrics
