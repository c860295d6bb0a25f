#pragma once

#include <redco/cost/cost_of.hpp>

#include <redco/shard/plan.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redco::report {

/// A run that fits, and what makes it differ from the one that was asked for.
struct fitting_change {
  setup run;
  std::string what;  ///< "4 model shards", "bf16 and 2 micro-batches of 4"
  std::int64_t peak = 0;
};

namespace detail {

/// The runs that differ from `run` in all of `changes`, the smallest difference first. The changes are a sum of 1 more
/// shards, 2 bf16, 4 more micro-batches, 8 recomputation: the least intrusive first.
std::vector<setup> changed_runs(setup const& run, unsigned changes, std::vector<int> const& widths);

std::string difference_text(setup const& from, setup const& to);

}  // namespace detail

/// The smallest change after which a rank stays within `budget` bytes: a wider legal mesh, bf16, more micro-batches,
/// recomputation; one of them if that is enough, else two and so on, in this order. Empty when all together do not help.
template <model M, class Optimizer>
std::optional<fitting_change> smallest_change(M const& m, Optimizer const& optimizer, setup const& run,
                                              std::int64_t budget) {
  std::vector<int> const widths = legal_widths(facts_of(m).parameters);
  for (unsigned const changes : {1U, 2U, 4U, 8U, 3U, 5U, 9U, 6U, 10U, 12U, 7U, 11U, 13U, 14U, 15U})
    for (setup const& s : detail::changed_runs(run, changes, widths))
      if (std::int64_t const peak = cost_of(m, optimizer, s).memory.peak(); peak <= budget)
        return fitting_change{s, detail::difference_text(run, s), peak};
  return {};
}

}  // namespace redco::report

#ifndef REDCO_COMPILED
#include <redco/report/smallest_change.inl.hpp>
#endif
