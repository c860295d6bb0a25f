#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace redco::metrics::detail {

/// Number of occurrences of each n-gram. The words of an n-gram are separated by spaces.
using ngram_counts = std::map<std::string, std::int64_t>;

/// Returns the n-grams of a text. `words` contain no spaces, and n is at least 1.
inline ngram_counts ngrams_of(std::vector<std::string> const& words, std::size_t n) {
  ngram_counts counts;
  for (std::size_t first = 0; n <= words.size() && first <= words.size() - n; ++first) {
    std::string ngram = words[first];
    for (std::size_t i = 1; i < n; ++i) ngram += ' ' + words[first + i];
    ++counts[ngram];
  }
  return counts;
}

/// Returns the number of n-grams of `a` that `b` contains too. No n-gram counts more often than it
/// occurs in either text.
inline std::int64_t common_ngrams(ngram_counts const& a, ngram_counts const& b) {
  std::int64_t sum = 0;
  for (auto const& [ngram, count] : a)
    if (auto const found = b.find(ngram); found != b.end()) sum += std::min(count, found->second);
  return sum;
}

inline std::int64_t ngrams_in(ngram_counts const& counts) {
  std::int64_t sum = 0;
  for (auto const& [ngram, count] : counts) sum += count;
  return sum;
}

}  // namespace redco::metrics::detail
