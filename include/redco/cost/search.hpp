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

/// What may vary, and what may not: every plan computes the same global batch.
struct search_space {
  workload load = {};  ///< the global batch and the length of its examples
  int ranks = 1;
  int hosts = 1;                     ///< on which the ranks lie; see setup
  std::int64_t budget = 0;           ///< bytes that a rank may hold; 0: any number
  std::int64_t gradient_bucket = 0;  ///< what is summed over several hosts at once, beside backward; 0: behind it
  std::vector<dtype> compute = {dtype::f32, dtype::bf16};
};

/// A plan that search has found.
struct found_plan {
  setup run;
  bool sequence_parallel = false;  ///< the model is a `sequence_parallel`: its tokens are split between blocks
  std::int64_t peak = 0;           ///< bytes of one rank, at most at once
  step_time time;
};

/// Plans that fit, the fastest first, and the one that holds least of all, whether it fits or not.
struct search_result {
  std::vector<found_plan> plans;
  found_plan smallest;
};

namespace detail {

std::vector<std::int64_t> divisors_of(std::int64_t n);

/// The runs on meshes of `space.ranks` ranks with these numbers of model shards, on which every replica gets as many
/// examples as the others and every micro-batch as many as the next, in every dtype, where no block is recomputed, every second, and all.
/// Errors: exit code 64 where there is none.
std::vector<setup> runs_of(search_space const& space, std::vector<int> const& shards);

/// The fastest first; of equals the one that holds less.
void sort_by_time(std::vector<found_plan>& plans);

}  // namespace detail

/// Tries meshes of `space.ranks` ranks, micro-batches, dtypes and recomputation on a model; see search_result. Replicas
/// get equal shares of the batch, cut into equal micro-batches.
/// Errors: exit code 64 where no mesh of so many ranks can hold the model and divide the batch, or what its sizes
/// overflow; 65 where the machine's speed was not measured.
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
