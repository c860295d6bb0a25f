#pragma once

#include <redco/metrics/rouge_l.hpp>

#include <string_view>

namespace redco::metrics {

/// Returns the ROUGE-N score, computed from runs of `n` words (Lin 2004, section 2). Precision and
/// recall are c / p and c / r for c common n-grams, p n-grams of the candidate and r of the
/// reference. No n-gram counts more often than it occurs in either text. All numbers are 0 if a
/// text has fewer than `n` words. Equals the rouge_score package without stemming. Throws `error`
/// with exit code 65 if `n` is less than 1.
rouge_score rouge_n(std::string_view candidate, std::string_view reference, int n);

}  // namespace redco::metrics

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/metrics/rouge_n.inl.hpp>
#endif
