#pragma once

#include <redco/cost/machine.hpp>
#include <redco/cost/setup.hpp>
#include <redco/cost/step_time.hpp>
#include <redco/shard/facts.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/fact/program.hpp>
#include <redco/optimizer/state_slots.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/zero.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace redco::cost {

/// The runs among which a search chooses: their meshes, schedules, levels of ZeRO, micro-batches,
/// dtypes and recomputation. All runs compute an equal global batch.
struct search_space {
  workload load = {};  ///< Number of examples of the global batch and their length
  int ranks = 1;
  int most_stages = 1;      ///< Largest number of pipeline stages
  int hosts = 1;            ///< Number of hosts; each has an equal number of consecutive ranks
  std::int64_t budget = 0;  ///< Maximum bytes of memory per rank; 0: no limit
  /// Bytes of gradients that are summed at once during backward, used if the replicas are on
  /// several hosts; 0: all gradients are summed after backward.
  std::int64_t gradient_bucket = 0;
  /// True if all runs must sum gradients during backward, which some refuse with ZeRO
  bool must_overlap = false;
  std::vector<int> zero = {0};  ///< Levels of ZeRO to try
  /// Bytes of gradients that one sum reduces from level 2 on; 0: shape::zero::default_bucket
  std::int64_t zero_bucket = 0;
  std::int64_t zero_keep = 0;  ///< With level 3, number of blocks that stay gathered during a step
  shape::zero_owner zero_owner = shape::zero_owner::element;
  std::vector<dtype> compute = {dtype::f32, dtype::bf16};
};

/// The settings of a run that a search has found, with the run's predicted memory and time.
struct found_plan {
  setup run;
  /// True if the run uses the model's sequence-parallel form, whose tokens are split between blocks
  bool sequence_parallel = false;
  std::int64_t peak = 0;  ///< Largest number of bytes that one rank holds at any time
  step_time time;
};

/// The result of a search: all runs whose memory is within the budget, the best first, and the run
/// with the smallest memory, which may exceed the budget. A faster run is better. Among equally
/// fast runs, the one with the least memory is better, then the one with fewer pipeline stages,
/// then the one with fewer chunks per stage.
struct search_result {
  std::vector<found_plan> plans;
  found_plan smallest;
};

}  // namespace redco::cost

namespace redco::cost::detail {

std::vector<std::int64_t> divisors_of(std::int64_t n);

/// Returns the settings of all runs that a search tries for a model with the program `facts`. Takes
/// the meshes that can hold the model and, with several pipeline stages, every schedule that a run
/// accepts, with up to eight chunks per stage. Varies the dtype, the number of equal micro-batches,
/// and recomputation (of no block, every second block or all blocks). If the space has several
/// levels of ZeRO, takes those that a run accepts. `demands` belong to the optimizer. Throws
/// `error` with exit code 64 if no run gives all replicas equal shares of the batch.
std::vector<setup> runs_of(search_space const& space, fact::program const& facts, optimizer::demands const& demands);

/// Returns the run `run` with its predicted memory and time. `facts` is the model's program for a
/// micro-batch.
found_plan predicted(fact::program const& facts, optimizer::demands const& demands, setup const& run,
                     machine const& on);

/// Sorts runs by predicted time, the fastest first; among equally fast runs, the one with the least
/// memory comes first. Keeps the order of other equal runs.
inline void sort_by_time(std::vector<found_plan>& plans) {
  std::stable_sort(plans.begin(), plans.end(), [](found_plan const& a, found_plan const& b) {
    return std::pair(a.time.total(), a.peak) < std::pair(b.time.total(), b.peak);
  });
}

}  // namespace redco::cost::detail

namespace redco::cost {

/// Searches for the best runs of a model on `space.ranks` ranks, by predicted memory and time.
/// Tries all meshes, schedules, levels of ZeRO, micro-batches, dtypes and recomputations for which
/// all replicas and micro-batches have equal numbers of examples, and which a run accepts.
///
/// Throws `error` with exit code 64 if no mesh can hold the model and divide the batch, or if sizes
/// exceed 64-bit integers. Throws `error` with exit code 65 if a needed speed of the machine was
/// not measured.
template <model M, class Optimizer>
search_result search(M const& m, Optimizer const& optimizer, search_space const& space, machine const& on) {
  search_result result;
  result.smallest.peak = std::numeric_limits<std::int64_t>::max();
  optimizer::demands const demands = optimizer::demands_of(optimizer);
  for (setup const& run : detail::runs_of(space, shard::facts_of(m), demands)) {
    found_plan found = detail::predicted(shard::facts_of(m, run.rank_load()), demands, run, on);
    found.sequence_parallel = models::is_sequence_parallel<M>;
    if (found.peak < result.smallest.peak) result.smallest = found;
    if (space.budget == 0 || found.peak <= space.budget) result.plans.push_back(found);
  }
  detail::sort_by_time(result.plans);
  return result;
}

}  // namespace redco::cost

namespace redco::cost::detail {

/// Merges the results of two searches: `whole`, for the model itself, and `split`, for its
/// sequence-parallel form. Takes from `split` only runs with more than one model shard.
inline search_result joined(search_result whole, search_result const& split) {
  for (found_plan const& p : split.plans)
    if (p.run.mesh.tp > 1) whole.plans.push_back(p);
  sort_by_time(whole.plans);
  if (split.smallest.peak < whole.smallest.peak) whole.smallest = split.smallest;
  return whole;
}

inline std::vector<std::int64_t> divisors_of(std::int64_t n) {
  std::vector<std::int64_t> small, large;
  for (std::int64_t d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    small.push_back(d);
    if (d != n / d) large.push_back(n / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

}  // namespace redco::cost::detail

namespace redco::cost {

/// Searches for the best runs of a model and of its sequence-parallel form, whose tokens are split
/// between blocks. Throws the errors of search().
template <model M, class Optimizer>
  requires models::repeats_blocks<M> search_result search_both_forms(M const& m, Optimizer const& optimizer,
                                                                     search_space const& space, machine const& on) {
    return detail::joined(search(m, optimizer, space, on),
                          search(models::sequence_parallel<M>{m.config}, optimizer, space, on));
  }

}  // namespace redco::cost

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/cost/search.inl.hpp>
#endif
