#pragma once

#include <redco/report/shard_report.hpp>

#include <redco/report/model_graph.hpp>
#include <redco/cost/simulation.hpp>
#include <redco/fact/stage_of.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace redco::report::detail {

/// Adds the activations of a chunk of a pipeline stage to those of the stage's earlier chunks,
/// layer by layer.
inline void add(std::vector<cost::layer_activations>& all, std::vector<cost::layer_activations> const& more) {
  for (cost::layer_activations const& one : more) {
    auto const known = std::find_if(all.begin(), all.end(), [&](auto const& of) { return of.layer == one.layer; });
    if (known == all.end()) {
      all.push_back(one);
    } else {
      known->bytes += one.bytes;
      known->counted = known->counted && one.counted;
    }
  }
}

}  // namespace redco::report::detail

namespace redco::report {

REDCO_INLINE shard_report report_from(shard::dynamic_plan plan, fact::program const& facts, std::string optimizer,
                                      optimizer::demands const& demands, cost::setup const& run, std::int64_t budget) {
  shard_report report{run, std::move(optimizer), std::move(plan), {}, {}, graph_of(facts), budget};
  report.run.stages.cuts = report.plan.stages;
  report.run.zero.owns_all = demands.factors;
  if (run.mesh.pp > 1) {
    cost::check_schedule(run, run.micro_batches);
    report.stages = cost::stage_costs(facts, demands, report.run);
    cost::stage_cost const& largest = cost::largest_of(report.stages);
    report.largest_stage = static_cast<std::size_t>(&largest - report.stages.data());
    report.cost = largest.cost;
    for (cost::stage_cost::chunk const& one : largest.chunks) {
      fact::program const part = fact::stage_of(facts, report.plan.stages, one.index);
      detail::add(report.activations, cost::activations_of(cost::simulation(part, report.run)));
    }
  } else {
    report.cost = cost::cost_of_program(facts, demands, run);
    report.activations = cost::activations_of(cost::simulation(facts, report.run));
  }
  return report;
}

}  // namespace redco::report
