#pragma once

#include <redco/cost/cost_of.hpp>
#include <redco/cost/machine.hpp>
#include <redco/cost/setup.hpp>
#include <redco/cost/step_time.hpp>

#include <redco/shard/facts.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/sequence_parallel.hpp>

#include <redco/shape/dtype.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace redco::cost {

/// Search space of plans. Every plan computes an equal global batch.
struct search_space {
  workload load = {};  ///< global batch and the length of its examples
  int ranks = 1;
  int hosts = 1;            ///< number of hosts of the ranks; see setup
  std::int64_t budget = 0;  ///< maximum bytes per rank; 0: no limit
  /// Bytes of gradients summed at once during backward if replicas are on several hosts; 0 sums all
  /// gradients after backward.
  std::int64_t gradient_bucket = 0;
  std::vector<dtype> compute = {dtype::f32, dtype::bf16};
};

/// A plan found by a search.
struct found_plan {
  setup run;
  /// The model is a `sequence_parallel`, whose tokens are split between blocks
  bool sequence_parallel = false;
  std::int64_t peak = 0;  ///< peak bytes of one rank
  step_time time;
};

/// Plans that fit, the fastest first, and the plan with the smallest peak, which need not fit.
struct search_result {
  std::vector<found_plan> plans;
  found_plan smallest;
};

namespace detail {

std::vector<std::int64_t> divisors_of(std::int64_t n);

/// Returns the runs on meshes of `space.ranks` ranks with these numbers of model shards, for every
/// type, equal micro-batches, and recomputation of no, every second, or all blocks. Throws `error`
/// with exit code 64 if no run gives all replicas equal shares of the batch.
std::vector<setup> runs_of(search_space const& space, std::vector<int> const& shards);

/// Sorts plans by time, then by peak bytes.
void sort_by_time(std::vector<found_plan>& plans);

}  // namespace detail

/// Returns the plans of a model on `space.ranks` ranks. Tries all meshes, micro-batches, types and
/// recomputations; replicas and micro-batches get equal shares of the batch.
///
/// Throws `error` with exit code 64 if no mesh can hold the model and divide the batch, or if sizes
/// overflow. Throws 65 if the machine's speed was not measured.
template <model M, class Optimizer>
search_result search(M const& m, Optimizer const& optimizer, search_space const& space, machine const& on) {
  auto const parameters = facts_of(m).parameters;
  std::vector<int> shards;
  for (std::int64_t const n : detail::divisors_of(space.ranks))
    if (first_illegal(parameters, {.tp = static_cast<int>(n)}) == parameters.size())
      shards.push_back(static_cast<int>(n));
  search_result result;
  result.smallest.peak = std::numeric_limits<std::int64_t>::max();
  for (setup const& run : detail::runs_of(space, shards)) {
    rank_cost const c = cost_of(m, optimizer, run);
    found_plan const found{run, is_sequence_parallel<M>, c.memory.peak(), step_time_of(c, run, on)};
    if (found.peak < result.smallest.peak) result.smallest = found;
    if (space.budget == 0 || found.peak <= space.budget) result.plans.push_back(found);
  }
  detail::sort_by_time(result.plans);
  return result;
}

}  // namespace redco::cost

#ifndef REDCO_COMPILED
#include <redco/cost/search.inl.hpp>
#endif
