#pragma once

#include <redco/cost/search.hpp>

#include <redco/cost/checks.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/cost/stage_costs.hpp>
#include <redco/shard/plan.hpp>
#include <redco/shard/stages.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/hosts.hpp>
#include <redco/shape/stage_cuts.hpp>
#include <redco/shape/zero.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>
#include <redco/schedule/pipeline_table.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace redco::cost::detail {

/// Returns the meshes of a search that can hold the model, those with the fewest pipeline stages
/// first.
inline std::vector<mesh> meshes_of(search_space const& space, fact::program const& facts) {
  bool const one_stage = first_between_replicas(facts) != nullptr;
  int const most = one_stage ? 1 : shard::most_stages(facts);
  std::vector<mesh> meshes;
  for (std::int64_t const stages : divisors_of(space.ranks)) {
    if (stages > std::min(most, space.most_stages)) break;
    int const pp = static_cast<int>(stages);
    for (std::int64_t const n : divisors_of(space.ranks / pp)) {
      int const tp = static_cast<int>(n);
      if (shard::first_illegal(facts.parameters, {.tp = tp}) == facts.parameters.size())
        meshes.push_back({.pp = pp, .dp = space.ranks / pp / tp, .tp = tp});
    }
  }
  return meshes;
}

/// Returns true if a run accepts a level of ZeRO on the mesh `on`.
inline bool accepts_zero(int level, mesh const& on, search_space const& space, fact::program const& facts,
                         optimizer::demands const& demands) {
  if (level == 0) return true;
  // Stages with level 2 keep what they keep with level 1.
  if (on.pp > 1 && (level == 2 || space.must_overlap)) return false;
  if (space.zero.size() == 1) return true;  // A refusal of the only level names its reason.
  if (demands.gathers || demands.factors) return false;
  auto const is_owned = [](fact::parameter_fact const& one) { return one.start.draw == fact::initial::kind::own; };
  return level == 1 || (first_between_replicas(facts) == nullptr &&
                        std::none_of(facts.parameters.begin(), facts.parameters.end(), is_owned));
}

/// Returns the levels of ZeRO that a search tries on the mesh `on`. One replica shares nothing out,
/// so all its levels are equal.
inline std::vector<int> levels_of(mesh const& on, search_space const& space, fact::program const& facts,
                                  optimizer::demands const& demands) {
  std::vector<int> levels;
  for (int const level : space.zero)
    if (accepts_zero(level, on, space, facts, demands) && (levels.empty() || on.size(shape::token_axes) > 1))
      levels.push_back(level);
  return levels;
}

/// Returns the settings of pipeline stages that a search tries on the mesh `on`, those with the
/// fewest chunks first. The blocks of the chunks are left open.
inline std::vector<stage_settings> stages_of(mesh const& on, fact::program const& facts) {
  if (on.pp == 1) return {{}};
  std::vector<stage_settings> all{{}, {.schedule = schedule::pipeline_kind::gpipe}};
  std::int64_t const most =
      std::min<std::int64_t>(std::ssize(shard::work_of_blocks(facts)), shape::stage_cuts::most_chunks);
  for (int const chunks : {2, 4, 8})
    if (std::int64_t{on.pp} * chunks <= most)
      all.push_back({.schedule = schedule::pipeline_kind::interleaved, .chunks_per_stage = chunks});
  return all;
}

REDCO_INLINE std::vector<setup> runs_of(search_space const& space, fact::program const& facts,
                                        optimizer::demands const& demands) {
  check_axes({.dp = space.ranks});
  check_load(space.load);
  check_hosts({.dp = space.ranks}, space.hosts);
  std::vector<setup> runs;
  std::set<int> copies;  // numbers of ranks that can hold one copy of the model
  for (mesh const& on : meshes_of(space, facts)) {
    std::vector<int> const levels = levels_of(on, space, facts, demands);
    if (levels.empty()) continue;
    copies.insert(on.pp * on.tp);
    if (space.load.batch % on.dp != 0) continue;
    std::int64_t const share = space.load.batch / on.dp;
    shape::host_map const lies{on, space.hosts};
    for (stage_settings const& stages : stages_of(on, facts)) {
      setup run{.mesh = on,
                .hosts = lies.hosts,
                .overlap_shards = space.gradient_bucket > 0 && lies.parts(shape::axis::tp),
                .stages = stages};
      run.stages.cuts = shard::stages_of(facts, on, {}, stages.chunks_per_stage);
      for (int const level : levels) {
        run.zero.level = level;
        run.zero.keep = shape::zero{level}.shares_values() ? space.zero_keep : 0;
        run.zero.owner = space.zero_owner;
        // Replicas that keep shares sum after the stages have exchanged gradients, and at level 1,
        // owners of whole matrices sum after backward.
        bool const overlaps = lies.parts(shape::token_axes) && !(level > 0 && on.pp > 1) &&
                              space.zero_owner == shape::zero_owner::element;
        bool const sums_in_backward = shape::zero{level}.on(on).sums_in_backward();
        run.zero.bucket = sums_in_backward ? space.zero_bucket : overlaps ? space.gradient_bucket : 0;
        run.zero.overlaps = level > 1 && lies.parts(shape::token_axes) && space.gradient_bucket > 0;
        for (std::int64_t const at_once : divisors_of(share)) {
          run.load = {at_once, space.load.sequence, space.load.source};
          run.micro_batches = share / at_once;
          if (!has_schedule(run, run.micro_batches)) continue;
          for (dtype const compute : space.compute)
            for (recomputed_blocks const& recompute :
                 {recomputed_blocks(), recomputed_blocks::every_kth(2), recomputed_blocks(true)}) {
              run.compute = compute;
              run.recompute = recompute;
              runs.push_back(run);
            }
        }
      }
    }
  }
  if (!runs.empty()) return runs;
  std::string sizes;
  for (int const ranks : copies) sizes += (sizes.empty() ? "" : ", ") + std::to_string(ranks);
  throw error(exit_code::usage, "a global batch of " + std::to_string(space.load.batch) +
                                    " cannot be shared equally by " + std::to_string(space.ranks) +
                                    " ranks, of which " + sizes + " hold one copy of the model; choose a batch that " +
                                    std::to_string(space.ranks / *copies.rbegin()) + " divides");
}

REDCO_INLINE found_plan predicted(fact::program const& facts, optimizer::demands const& demands, setup const& run,
                                  machine const& on) {
  if (run.mesh.pp == 1) {
    rank_cost const cost = cost_of_program(facts, demands, run);
    return {run, false, cost.memory.peak(), step_time_of(cost, run, on)};
  }
  std::vector<stage_cost> const stages = stage_costs(facts, demands, run);
  return {run, false, largest_of(stages).cost.memory.peak(), pipeline_time_of(stages, run, on).slowest()};
}

}  // namespace redco::cost::detail
