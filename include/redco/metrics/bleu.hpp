#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco::metrics {

/// A BLEU score of a corpus, with the numbers that it is computed from. An n-gram is a run of n
/// words; index n - 1 of an array belongs to n-grams.
struct bleu_score {
  static constexpr std::size_t orders = 4;  ///< Number of words of the longest n-grams

  /// BLEU score, from 0 to 100.
  double score = 0;
  /// Percentage of the candidates' n-grams that occur in a reference, after smoothing.
  std::array<double, orders> precisions{};
  /// Number of the candidates' n-grams that occur in a reference.
  std::array<std::int64_t, orders> matches{};
  /// Number of the candidates' n-grams.
  std::array<std::int64_t, orders> ngrams{};
  /// Factor of the score for candidates that are too short, from 0 to 1.
  double brevity_penalty = 1;
  /// Number of words of all candidates.
  std::int64_t candidate_words = 0;
  /// Number of words of the references, one per candidate: the reference closest in length, and the
  /// shorter one of two equally close references.
  std::int64_t reference_words = 0;
};

/// Returns the words that BLEU compares. This tokenization, "13a" of sacreBLEU and mteval-v13a.pl,
/// separates punctuation from words and keeps capitals. The text is UTF-8.
std::vector<std::string> bleu_words(std::string_view text);

/// Returns the BLEU score b exp((log p_1 + ... + log p_4) / 4) of a corpus (Papineni et al. 2002),
/// from 0 to 100. p_n is the precision of n-grams; b = min(1, exp(1 - reference words / candidate
/// words)). Smoothing replaces the k-th precision of 0 by 100 / (2^k ngrams); the score is 0 if no
/// word matches. Equals sacreBLEU's corpus_bleu (Post 2018). references[i] are the references of
/// candidates[i]. Throws `error` with exit code 65 if the lists are empty or differ in length, or a
/// candidate has no reference.
bleu_score bleu(std::span<std::string const> candidates, std::span<std::vector<std::string> const> references);

/// Returns the BLEU score of a corpus in which references[i] is the only reference of
/// candidates[i]. Throws `error` with exit code 65 if the lists are empty or differ in length.
inline bleu_score bleu(std::span<std::string const> candidates, std::span<std::string const> references) {
  std::vector<std::vector<std::string>> lists;
  for (std::string const& reference : references) lists.push_back({reference});
  return bleu(candidates, std::span<std::vector<std::string> const>(lists));
}

}  // namespace redco::metrics

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/metrics/bleu.inl.hpp>
#endif
