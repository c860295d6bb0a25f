#pragma once

#include <redco/data/detail/shares.hpp>

#include <redco/shape/bytes.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

namespace redco::data::detail {

/// Returns integers with the ratios of `weights`: exact if their sum is at most 1000, otherwise
/// rounded, each at least 1, to the sum 65536.
inline std::vector<std::int64_t> whole_weights(std::vector<double> const& weights) {
  double const total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::int64_t> counts(weights.size());
  for (int sum = static_cast<int>(weights.size()); sum <= 1000; ++sum) {
    bool exact = true;
    for (std::size_t s = 0; s < weights.size() && exact; ++s) {
      double const share = weights[s] / total * sum;
      counts[s] = std::llround(share);
      exact = counts[s] > 0 && std::abs(share - static_cast<double>(counts[s])) < 1e-9;
    }
    if (exact && std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == sum) return counts;
  }
  constexpr std::int64_t sum = 65536;
  std::vector<double> rest(weights.size());
  for (std::size_t s = 0; s < weights.size(); ++s) {
    double const share = weights[s] / total * static_cast<double>(sum);
    counts[s] = std::max<std::int64_t>(1, static_cast<std::int64_t>(share));
    rest[s] = share - static_cast<double>(counts[s]);
  }
  for (std::int64_t missing = sum - std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); missing != 0;) {
    std::int64_t const step = missing > 0 ? 1 : -1;
    std::size_t chosen = 0;
    for (std::size_t s = 1; s < counts.size(); ++s)
      if (missing > 0 ? rest[s] > rest[chosen] : counts[s] > counts[chosen]) chosen = s;
    counts[chosen] += step;
    rest[chosen] -= static_cast<double>(step);
    missing -= step;
  }
  return counts;
}

REDCO_INLINE shares::shares(std::vector<double> const& weights, std::size_t sources) {
  constexpr std::size_t most = 1000;
  if (weights.size() != sources)
    throw error(exit_code::usage, "a mixture of " + std::to_string(sources) + " sources has " +
                                      std::to_string(weights.size()) + " weights; give one weight for each source");
  if (sources > most)
    throw error(exit_code::usage, "a mixture of " + std::to_string(sources) + " sources: give at most " +
                                      std::to_string(most) + ", or join some of them");
  for (std::size_t s = 0; s < sources; ++s)
    if (!std::isfinite(weights[s]) || weights[s] <= 0)
      throw error(exit_code::usage, "weight " + std::to_string(s) + " of a mixture is " + std::to_string(weights[s]) +
                                        "; give a number above 0, or leave the source out");
  counts_ = whole_weights(weights);
  std::int64_t const period = std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
  std::vector<std::int64_t> placed(sources, 0);
  for (std::int64_t index = 0; index < period; ++index) {
    std::size_t chosen = sources;
    std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
    for (std::size_t s = 0; s < sources; ++s) {
      if (placed[s] == counts_[s] || placed[s] * period / counts_[s] > index) continue;
      std::int64_t const deadline = ((placed[s] + 1) * period + counts_[s] - 1) / counts_[s];
      if (deadline >= earliest) continue;
      earliest = deadline;
      chosen = s;
    }
    source_.push_back(static_cast<std::uint16_t>(chosen));
    position_.push_back(static_cast<std::uint32_t>(placed[chosen]++));
  }
}

REDCO_INLINE shares::draw shares::at(std::int64_t index) const {
  auto const period = static_cast<std::int64_t>(source_.size());
  auto const rest = static_cast<std::size_t>(index % period);
  std::size_t const source = source_[rest];
  return {source, index / period * counts_[source] + position_[rest]};
}

REDCO_INLINE std::int64_t shares::smallest_prefix(std::size_t source, std::int64_t count) const {
  std::int64_t const whole = (count - 1) / counts_[source];
  auto const last = static_cast<std::uint32_t>((count - 1) % counts_[source]);
  std::size_t index = 0;
  while (source_[index] != source || position_[index] != last) ++index;
  return shape::saturating_add(shape::saturating_multiply(whole, static_cast<std::int64_t>(source_.size())),
                               static_cast<std::int64_t>(index) + 1);
}

}  // namespace redco::data::detail
