#pragma once

#include <redco/report/model_graph.hpp>
#include <redco/report/report_answer.hpp>

#include <redco/cost/checks.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/cost/memory_of.hpp>
#include <redco/cost/stage_costs.hpp>

#include <redco/shard/facts.hpp>
#include <redco/shard/plan.hpp>
#include <redco/fact/program.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redco::report {

/// A report on a run: its settings, its plan (the split of every parameter), its cost, and the
/// graph of the model's layers.
struct shard_report {
  cost::setup run;
  std::string optimizer;
  shard::dynamic_plan plan;
  cost::rank_cost cost;
  std::vector<cost::layer_activations> activations;
  model_graph graph;
  std::int64_t budget = 0;  ///< Maximum bytes of memory per rank; 0: no limit
  /// Costs of all pipeline stages; empty for one stage. `cost` and `activations` are those of the
  /// stage that needs most memory. `activations` are those of one micro-batch in all its chunks.
  std::vector<cost::stage_cost> stages = {};
  std::size_t largest_stage = 0;
  /// Answers at the beginning of the report; only `report::answered_report` sets them.
  std::optional<report_answer> answer = {};

  /// Returns true if every layer declares the tensors that it saves and the operations that it
  /// computes.
  bool counts_all() const {
    return std::all_of(activations.begin(), activations.end(), [](auto const& one) { return one.counted; });
  }
  bool fits() const { return budget == 0 || cost.memory.peak() <= budget; }
};

/// Returns the report of a model from its plan (the split of every parameter) and its program
/// `facts` (the statements of its layers). `demands` has the numbers of optimizer state tensors
/// per parameter.
shard_report report_from(shard::dynamic_plan plan, fact::program const& facts, std::string optimizer,
                         optimizer::demands const& demands, cost::setup const& run, std::int64_t budget);

}  // namespace redco::report

namespace redco {

/// Returns the report of a model trained by `optimizer`, with the memory limit `budget` in bytes
/// per rank (0: none). Throws `error` with exit code 64 if `run` is invalid or the mesh cannot hold
/// the model; the message lists the legal numbers of model shards.
template <model M, class Optimizer>
report::shard_report report_of(M const& m, Optimizer const& optimizer, cost::setup const& run,
                               std::int64_t budget = 0) {
  cost::check_setup(run);
  return report::report_from(plan_of(m, run.mesh, run.stages.cuts.lengths(), run.stages.chunks_per_stage),
                             shard::facts_of(m, run.rank_load()), std::string(optimizer.name),
                             optimizer::demands_of(optimizer), run, budget);
}

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/shard_report.inl.hpp>
#endif
