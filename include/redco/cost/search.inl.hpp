#pragma once

#include <redco/cost/search.hpp>

#include <redco/cost/checks.hpp>
#include <redco/shape/hosts.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <string>

namespace redco::cost::detail {

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
          runs.push_back(
              {.mesh = on,
               .load = {at_once, space.load.sequence, space.load.source},
               .compute = compute,
               .recompute = recompute,
               .micro_batches = share / at_once,
               .hosts = lies.hosts,
               .gradient_bucket = space.zero > 1 || lies.parts(shape::batch_axes) ? space.gradient_bucket : 0,
               .zero = space.zero,
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

}  // namespace redco::cost::detail
