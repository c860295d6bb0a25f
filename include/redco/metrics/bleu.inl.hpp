#pragma once

#include <redco/metrics/bleu.hpp>

#include <redco/metrics/detail/ngrams.hpp>
#include <redco/metrics/detail/utf8.hpp>
#include <redco/metrics/scores.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace redco::metrics::detail {

inline void replace_all(std::string& text, std::string_view old, std::string_view replacement) {
  for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + replacement.size()))
    text.replace(at, old.size(), replacement);
}

inline bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

inline bool is_period_or_comma(char c) { return c == '.' || c == ','; }

/// Returns true for ASCII punctuation except the apostrophe, the comma, the hyphen and the period.
inline bool is_separate_symbol(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
         (c >= ':' && c <= '@') || c == '/';
}

/// Returns `text` with a space within each pair of bytes for which first(a) and second(b) hold, and
/// with `before` and `after` around the pair. Pairs do not overlap.
template <class First, class Second>
std::string with_spaces(std::string const& text, First first, Second second, char const* before, char const* after) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && first(text[i]) && second(text[i + 1])) {
      result.append(before).append(1, text[i]).append(1, ' ').append(1, text[i + 1]).append(after);
      ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

/// Returns `text` without white space at its end.
inline std::string_view without_final_space(std::string_view text) {
  std::size_t end = 0, size = 0;
  for_each_code_point(text, [&](char32_t c, std::string_view bytes) {
    size += bytes.size();
    if (!is_space(c)) end = size;
  });
  return text.substr(0, end);
}

/// Adds the n-grams and words of one candidate to the sums of the corpus.
inline void add_to_bleu(bleu_score& sums, std::string const& candidate, std::span<std::string const> references) {
  auto const words = bleu_words(candidate);
  std::vector<std::vector<std::string>> wanted;
  for (std::string const& reference : references) wanted.push_back(bleu_words(reference));
  for (std::size_t n = 1; n <= bleu_score::orders; ++n) {
    ngram_counts most;
    for (auto const& reference : wanted)
      for (auto const& [ngram, count] : ngrams_of(reference, n)) most[ngram] = std::max(most[ngram], count);
    auto const ngrams = ngrams_of(words, n);
    sums.matches[n - 1] += common_ngrams(ngrams, most);
    sums.ngrams[n - 1] += ngrams_in(ngrams);
  }
  auto const size = static_cast<std::int64_t>(words.size());
  std::pair<std::int64_t, std::int64_t> closest{-1, 0};
  for (auto const& reference : wanted) {
    auto const length = static_cast<std::int64_t>(reference.size());
    std::pair const one{std::abs(length - size), length};
    if (closest.first < 0 || one < closest) closest = one;
  }
  sums.candidate_words += size;
  sums.reference_words += closest.second;
}

/// Computes precisions, brevity penalty and score from the sums of a corpus.
inline void finish_bleu(bleu_score& s) {
  auto const candidate = static_cast<double>(s.candidate_words), reference = static_cast<double>(s.reference_words);
  if (candidate < reference) s.brevity_penalty = candidate > 0 ? std::exp(1 - reference / candidate) : 0;
  if (std::all_of(s.matches.begin(), s.matches.end(), [](std::int64_t matches) { return matches == 0; })) return;
  double smoothing = 1, logs = 0;
  for (std::size_t i = 0; i < bleu_score::orders; ++i) {
    if (s.ngrams[i] == 0) return;
    if (s.matches[i] == 0) smoothing *= 2;
    double const matches = s.matches[i] == 0 ? 1 / smoothing : static_cast<double>(s.matches[i]);
    s.precisions[i] = 100 * matches / static_cast<double>(s.ngrams[i]);
    logs += std::log(s.precisions[i]);
  }
  s.score = s.brevity_penalty * std::exp(logs / static_cast<double>(bleu_score::orders));
}

}  // namespace redco::metrics::detail

namespace redco::metrics {

// The regular expressions of 13a look at ASCII only, so that this function works on bytes.
REDCO_INLINE std::vector<std::string> bleu_words(std::string_view original) {
  std::string text(detail::without_final_space(original));
  for (auto const& [old, replacement] : {std::pair{"<skipped>", ""},
                                         {"-\n", ""},
                                         {"\n", " "},
                                         {"&quot;", "\""},
                                         {"&amp;", "&"},
                                         {"&lt;", "<"},
                                         {"&gt;", ">"}})
    detail::replace_all(text, old, replacement);
  std::string spaced = " ";
  for (char const c : text) {
    if (detail::is_separate_symbol(c)) spaced.append({' ', c, ' '});
    else spaced += c;
  }
  spaced += ' ';
  auto const digit = detail::is_ascii_digit;
  auto const mark = detail::is_period_or_comma;
  auto const no_digit = [](char c) { return !detail::is_ascii_digit(c); };
  spaced = detail::with_spaces(spaced, no_digit, mark, "", " ");
  spaced = detail::with_spaces(spaced, mark, no_digit, " ", "");
  spaced = detail::with_spaces(
      spaced, digit, [](char c) { return c == '-'; }, "", " ");
  std::vector<std::string> words;
  bool within = false;
  detail::for_each_code_point(spaced, [&](char32_t c, std::string_view bytes) {
    bool const part = !detail::is_space(c);
    if (part && !within) words.emplace_back();
    if (part) words.back() += bytes;
    within = part;
  });
  return words;
}

REDCO_INLINE bleu_score bleu(std::span<std::string const> candidates,
                             std::span<std::vector<std::string> const> references) {
  detail::check_counts("bleu", candidates.size(), "candidates", references.size(), "lists of references");
  bleu_score s;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (references[i].empty())
      throw error(exit_code::data, "bleu: candidate " + std::to_string(i) + " of " + std::to_string(candidates.size()) +
                                       " (counted from 0) has no reference: give at least 1");
    detail::add_to_bleu(s, candidates[i], references[i]);
  }
  detail::finish_bleu(s);
  return s;
}

}  // namespace redco::metrics
