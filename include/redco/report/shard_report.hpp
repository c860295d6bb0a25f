#pragma once

#include <redco/report/model_graph.hpp>
#include <redco/report/report_answer.hpp>

#include <redco/cost/activations_of.hpp>
#include <redco/cost/check_setup.hpp>
#include <redco/cost/cost_of.hpp>

#include <redco/shard/facts.hpp>
#include <redco/shard/plan.hpp>
#include <redco/fact/program.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redco {

/// What a report says: a run, its plan, what it costs, and how the model's layers follow one another.
struct shard_report {
  setup run;
  std::string optimizer;
  dynamic_plan plan;
  redco::rank_cost cost;
  std::vector<cost::layer_activations> activations;
  report::model_graph graph;
  std::int64_t budget = 0;                           ///< bytes that a rank may hold; 0: no limit was stated
  std::optional<report::report_answer> answer = {};  ///< of `report::answered_report`

  /// Whether every layer states what it saves and computes.
  bool counts_all() const {
    return std::all_of(activations.begin(), activations.end(), [](auto const& one) { return one.counted; });
  }
  bool fits() const { return budget == 0 || cost.memory.peak() <= budget; }
};

}  // namespace redco

namespace redco::report {

/// The report of a plan and the program of facts that it is of; `slots`: what the optimizer holds of each parameter.
shard_report report_from(dynamic_plan plan, fact::program const& facts, std::string optimizer, int slots,
                         setup const& run, std::int64_t budget);

}  // namespace redco::report

namespace redco {

/// The report of a model. Errors: exit code 64 with the legal widths when the mesh cannot hold the
/// model, and for a run that cannot be.
template <model M, class Optimizer>
shard_report report_of(M const& m, Optimizer const& optimizer, setup const& run, std::int64_t budget = 0) {
  cost::check_setup(run);
  return report::report_from(plan_of(m, run.mesh), facts_of(m, run.load), std::string(optimizer.name),
                             state_slots(optimizer).size(), run, budget);
}

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/report/shard_report.inl.hpp>
#endif
