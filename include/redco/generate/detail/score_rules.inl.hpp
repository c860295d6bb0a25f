#pragma once

#include <redco/generate/detail/score_rules.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>

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

}  // namespace redco::generation::detail
