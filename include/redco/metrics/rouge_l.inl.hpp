#pragma once

#include <redco/metrics/rouge_l.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <map>

namespace redco::metrics::detail {

using rouge_sentence = std::vector<std::string>;

/// Returns a table for ROUGE-L. Entry [i][j] is the length of the longest common subsequence of the
/// first `i` words of `a` and the first `j` words of `b`.
inline std::vector<std::vector<int>> longest_common(rouge_sentence const& a, rouge_sentence const& b) {
  std::vector<std::vector<int>> longest(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j)
      longest[i][j] = a[i - 1] == b[j - 1] ? longest[i - 1][j - 1] + 1 : std::max(longest[i - 1][j], longest[i][j - 1]);
  return longest;
}

/// Sets marked[i] to true for each word `i` of `reference` that belongs to one longest common
/// subsequence with `candidate`. Leaves all other marks unchanged.
inline void mark_common(rouge_sentence const& reference, rouge_sentence const& candidate, std::vector<bool>& marked) {
  auto const longest = longest_common(reference, candidate);
  for (std::size_t i = reference.size(), j = candidate.size(); i > 0 && j > 0;) {
    if (reference[i - 1] == candidate[j - 1]) {
      marked[--i] = true;
      --j;
    } else if (longest[i][j - 1] > longest[i - 1][j]) {
      --j;
    } else {
      --i;
    }
  }
}

/// Returns one list of words per line of a text. Lines without words are left out.
inline std::vector<rouge_sentence> sentences_of(std::string_view text) {
  std::vector<rouge_sentence> all;
  while (!text.empty()) {
    std::size_t const end = std::min(text.find('\n'), text.size());
    rouge_sentence sentence = rouge_words(text.substr(0, end));
    if (!sentence.empty()) all.push_back(std::move(sentence));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

inline std::map<std::string, int> counts_of(std::vector<rouge_sentence> const& sentences) {
  std::map<std::string, int> counts;
  for (rouge_sentence const& sentence : sentences)
    for (std::string const& word : sentence) ++counts[word];
  return counts;
}

inline double words_in(std::vector<rouge_sentence> const& sentences) {
  std::size_t sum = 0;
  for (rouge_sentence const& sentence : sentences) sum += sentence.size();
  return static_cast<double>(sum);
}

}  // namespace redco::metrics::detail

namespace redco::metrics {

REDCO_INLINE rouge_score rouge_l(std::string_view candidate, std::string_view reference) {
  auto const a = rouge_words(candidate), b = rouge_words(reference);
  return detail::rouge_score_of(detail::longest_common(a, b).back().back(), static_cast<double>(a.size()),
                                static_cast<double>(b.size()));
}

REDCO_INLINE rouge_score rouge_l_of_summaries(std::string_view candidate, std::string_view reference) {
  auto const theirs = detail::sentences_of(candidate), wanted = detail::sentences_of(reference);
  auto left_of_theirs = detail::counts_of(theirs), left_of_wanted = detail::counts_of(wanted);
  double common = 0;
  for (detail::rouge_sentence const& sentence : wanted) {
    std::vector<bool> marked(sentence.size());
    for (detail::rouge_sentence const& one : theirs) detail::mark_common(sentence, one, marked);
    for (std::size_t i = 0; i < sentence.size(); ++i) {
      if (!marked[i] || left_of_theirs[sentence[i]] == 0 || left_of_wanted[sentence[i]] == 0) continue;
      --left_of_theirs[sentence[i]];
      --left_of_wanted[sentence[i]];
      ++common;
    }
  }
  return detail::rouge_score_of(common, detail::words_in(theirs), detail::words_in(wanted));
}

}  // namespace redco::metrics
