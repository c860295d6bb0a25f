#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace redco {

/// The agreement of two texts as three numbers from 0 to 1.
struct rouge_score {
  /// Share of the candidate's words in the common subsequence.
  double precision = 0;
  /// Share of the reference's words in the common subsequence.
  double recall = 0;
  double f = 0;  ///< harmonic mean of precision and recall
};

/// Returns the words that ROUGE compares: runs of ASCII letters and digits, in lower case.
std::vector<std::string> rouge_words(std::string_view text);

/// Returns the ROUGE-L score (Lin 2004, section 3.1, beta = 1): the longest common subsequence of
/// words, relative to the words of each text. Scores 0 if a text has no words. Time and memory grow
/// with the product of the numbers of words.
rouge_score rouge_l(std::string_view candidate, std::string_view reference);

/// Returns the ROUGE-L score of summaries (Lin 2004, section 3.2), in which each line is a
/// sentence. For each reference sentence, counts the union of its longest common subsequences with
/// all candidate sentences. No word counts more often than it occurs in either text.
rouge_score rouge_l_of_summaries(std::string_view candidate, std::string_view reference);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/metrics/rouge_l.inl.hpp>
#endif
