#pragma once

#include <redco/generate/detail/scores.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <vector>

namespace redco::generation::detail {

REDCO_INLINE void penalise(std::span<double> scores, std::span<std::int64_t const> seen, double penalty) {
  std::vector<bool> done(scores.size());
  for (std::int64_t const id : seen) {
    if (id < 0 || id >= std::ssize(scores)) continue;
    auto const at = static_cast<std::size_t>(id);
    if (!done[at]) scores[at] = scores[at] < 0 ? scores[at] * penalty : scores[at] / penalty;
    done[at] = true;
  }
}

REDCO_INLINE void ban(std::span<double> scores, std::span<std::int64_t const> ids) {
  for (std::int64_t const id : ids)
    if (id >= 0 && id < std::ssize(scores))
      scores[static_cast<std::size_t>(id)] = -std::numeric_limits<double>::infinity();
}

REDCO_INLINE void ban_repeated(std::span<double> scores, std::span<std::int64_t const> seen, std::int64_t size) {
  if (size > std::ssize(seen)) return;
  // Number of ids in an n-gram before its last one.
  auto const before = static_cast<std::size_t>(size - 1);
  std::span const last = seen.last(before);
  for (std::size_t begin = 0; begin + before < seen.size(); ++begin)
    if (std::ranges::equal(seen.subspan(begin, before), last)) ban(scores, seen.subspan(begin + before, 1));
}

/// Returns the largest logit. Throws `error` with exit code 79 if no logit is finite, or one is NaN
/// or +inf.
inline double likeliest(std::span<double const> logits) {
  double top = -std::numeric_limits<double>::infinity();
  bool sound = true;
  for (double const x : logits) {
    sound = sound && x < std::numeric_limits<double>::infinity();  // also false for NaN
    top = std::max(top, x);
  }
  if (!sound || !std::isfinite(top))
    throw error(exit_code::not_finite,
                "no token can be drawn from logits that are NaN, +inf or all -inf: check the weights and the prompt");
  return top;
}

/// Returns the k-th largest logit. Requires k >= 1.
inline double kth_largest(std::span<double const> logits, std::int64_t k) {
  std::vector<double> all(logits.begin(), logits.end());
  std::nth_element(all.begin(), all.begin() + (k - 1), all.end(), std::greater<>());
  return all[static_cast<std::size_t>(k - 1)];
}

/// Sets weights to 0 except the largest ones that together reach the share `p` of the sum of all
/// weights. Among equal logits, the lower id is kept.
inline void keep_top_p(std::span<double> weights, std::span<double const> logits, double p) {
  std::vector<std::int32_t> ids;
  double total = 0;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (weights[i] > 0) ids.push_back(static_cast<std::int32_t>(i)), total += weights[i];
  auto const before = [&](std::int32_t a, std::int32_t b) {
    double const x = logits[static_cast<std::size_t>(a)], y = logits[static_cast<std::size_t>(b)];
    return x > y || (x == y && a < b);
  };
  double mass = 0;
  std::size_t kept = 0, sorted = 0;
  for (; kept < ids.size() && (kept == 0 || mass < p * total); ++kept) {
    // Few ids hold most of the probability, so only as many are sorted as the loop visits.
    if (kept == sorted) {
      sorted = std::min(ids.size(), std::max<std::size_t>(64, 8 * sorted));
      auto const begin = ids.begin() + static_cast<std::ptrdiff_t>(kept);
      std::partial_sort(begin, ids.begin() + static_cast<std::ptrdiff_t>(sorted), ids.end(), before);
    }
    mass += weights[static_cast<std::size_t>(ids[kept])];
  }
  for (; kept < ids.size(); ++kept) weights[static_cast<std::size_t>(ids[kept])] = 0;
}

REDCO_INLINE std::int64_t draw(std::span<double const> logits, generate_options const& o, double u) {
  double const top = likeliest(logits);
  double const least = o.top_k > 0 && o.top_k < std::ssize(logits) ? kth_largest(logits, o.top_k)
                                                                   : -std::numeric_limits<double>::infinity();
  std::vector<double> weights(logits.size());  // the most likely id has weight 1
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = logits[i] < least ? 0 : std::exp((logits[i] - top) / o.temperature);
  if (o.top_p < 1) keep_top_p(weights, logits, o.top_p);
  double total = 0;
  for (double& w : weights) {
    if (w < o.min_p) w = 0;
    total += w;
  }
  double sum = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size() && sum <= u * total; ++i) {
    if (weights[i] == 0) continue;
    sum += weights[i];
    last = i;
  }
  return static_cast<std::int64_t>(last);
}

}  // namespace redco::generation::detail
