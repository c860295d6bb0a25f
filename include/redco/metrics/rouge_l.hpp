#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace redco {

/// How much of two texts agrees, each from 0 to 1.
struct rouge_score {
  double precision = 0;  ///< of the candidate's words
  double recall = 0;     ///< of the reference's words
  double f = 0;          ///< their harmonic mean
};

/// The words that ROUGE compares: runs of ASCII letters and digits in lower case.
std::vector<std::string> rouge_words(std::string_view text);

/// ROUGE-L (Lin 2004, section 3.1, with beta = 1): the longest common subsequence of words, over the words of each text.
/// Texts without words score 0. Costs the product of their lengths.
rouge_score rouge_l(std::string_view candidate, std::string_view reference);

/// ROUGE-L of summaries (Lin 2004, section 3.2), whose sentences are lines: for each sentence of the reference the union of its
/// longest common subsequences with all of the candidate's, no word of either text counted more often than it is there.
rouge_score rouge_l_of_summaries(std::string_view candidate, std::string_view reference);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/metrics/rouge_l.inl.hpp>
#endif
