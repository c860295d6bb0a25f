#pragma once

#include <redco/cost/search.hpp>

#include <redco/cost/checks.hpp>
#include <redco/shape/hosts.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace redco::cost::detail {

REDCO_INLINE std::vector<std::int64_t> divisors_of(std::int64_t n) {
  std::vector<std::int64_t> small, large;
  for (std::int64_t d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    small.push_back(d);
    if (d != n / d) large.push_back(n / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

REDCO_INLINE std::vector<setup> runs_of(search_space const& space, std::vector<int> const& shards) {
  check_axes({.dp = space.ranks});
  check_load(space.load);
  check_hosts({.dp = space.ranks}, space.hosts);
  std::vector<setup> runs;
  for (int const tp : shards) {
    mesh const on{.dp = space.ranks / tp, .tp = tp};
    if (space.load.batch % on.dp != 0) continue;
    std::int64_t const share = space.load.batch / on.dp;
    shape::host_map const lies{on, space.hosts};
    for (std::int64_t const at_once : divisors_of(share))
      for (dtype const compute : space.compute)
        for (recomputed_blocks const& recompute :
             {recomputed_blocks(), recomputed_blocks::every_kth(2), recomputed_blocks(true)})
          runs.push_back({.mesh = on,
                          .load = {at_once, space.load.sequence, space.load.source},
                          .compute = compute,
                          .recompute = recompute,
                          .micro_batches = share / at_once,
                          .hosts = lies.hosts,
                          .gradient_bucket = lies.parts(shape::batch_axes) ? space.gradient_bucket : 0,
                          .overlap_shards = space.gradient_bucket > 0 && lies.parts(shape::axis::tp)});
  }
  if (!runs.empty()) return runs;
  std::string widths;
  for (int const tp : shards) widths += (widths.empty() ? "" : ", ") + std::to_string(tp);
  throw error(exit_code::usage, "a global batch of " + std::to_string(space.load.batch) +
                                    " cannot be shared equally by " + std::to_string(space.ranks) +
                                    " ranks, of which " + widths + " hold one copy of the model; choose a batch that " +
                                    std::to_string(space.ranks / shards.back()) + " divides");
}

REDCO_INLINE void sort_by_time(std::vector<found_plan>& plans) {
  std::stable_sort(plans.begin(), plans.end(), [](found_plan const& a, found_plan const& b) {
    return std::pair(a.time.total(), a.peak) < std::pair(b.time.total(), b.peak);
  });
}

REDCO_INLINE search_result joined(search_result whole, search_result const& split) {
  for (found_plan const& p : split.plans)
    if (p.run.mesh.tp > 1) whole.plans.push_back(p);
  sort_by_time(whole.plans);
  if (split.smallest.peak < whole.smallest.peak) whole.smallest = split.smallest;
  return whole;
}

}  // namespace redco::cost::detail
