#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace redco::metrics {

/// A ROUGE score, which measures the agreement of a candidate text with a reference text by three
/// numbers from 0 to 1. rouge_l() compares the words of the longest common subsequence. rouge_n()
/// compares runs of `n` words.
struct rouge_score {
  double precision = 0;  ///< Fraction of the candidate's words, or runs of words, that are common
  double recall = 0;     ///< Fraction of the reference's words, or runs of words, that are common
  double f = 0;          ///< Harmonic mean of the members `precision` and `recall`
};

/// Returns the words that ROUGE compares: runs of ASCII letters and digits, in lower case.
inline std::vector<std::string> rouge_words(std::string_view text) {
  std::vector<std::string> all;
  bool within = false;
  for (char const byte : text) {
    char const lower = byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
    bool const part = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    if (part && !within) all.emplace_back();
    if (part) all.back().push_back(lower);
    within = part;
  }
  return all;
}

/// Returns the ROUGE-L score (Lin 2004, section 3.1, beta = 1), computed from the longest common
/// subsequence of words. All numbers are 0 if a text has no words. Time and memory grow with the
/// product of the numbers of words.
rouge_score rouge_l(std::string_view candidate, std::string_view reference);

/// Returns the ROUGE-L score of summaries (Lin 2004, section 3.2), in which each line is a
/// sentence. Counts the words of each reference sentence that are in a longest common subsequence
/// with at least one candidate sentence. No word counts more often than it occurs in either text.
rouge_score rouge_l_of_summaries(std::string_view candidate, std::string_view reference);

}  // namespace redco::metrics

namespace redco::metrics::detail {

/// Returns the score of two texts that have `common` words, or runs of words, in common.
inline rouge_score rouge_score_of(double common, double in_candidate, double in_reference) {
  rouge_score s;
  if (common == 0) return s;
  s.precision = common / in_candidate;
  s.recall = common / in_reference;
  s.f = 2 * s.precision * s.recall / (s.precision + s.recall);
  return s;
}

}  // namespace redco::metrics::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/metrics/rouge_l.inl.hpp>
#endif
