#pragma once

#include <redco/metrics/rouge_n.hpp>

#include <redco/metrics/detail/ngrams.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <string>

namespace redco::metrics {

REDCO_INLINE rouge_score rouge_n(std::string_view candidate, std::string_view reference, int n) {
  if (n < 1) throw error(exit_code::data, "rouge_n of runs of " + std::to_string(n) + " words: give n of at least 1");
  auto const a = detail::ngrams_of(rouge_words(candidate), static_cast<std::size_t>(n));
  auto const b = detail::ngrams_of(rouge_words(reference), static_cast<std::size_t>(n));
  return detail::rouge_score_of(static_cast<double>(detail::common_ngrams(a, b)),
                                static_cast<double>(detail::ngrams_in(a)), static_cast<double>(detail::ngrams_in(b)));
}

}  // namespace redco::metrics
