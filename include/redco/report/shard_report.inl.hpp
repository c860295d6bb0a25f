#pragma once

#include <redco/report/shard_report.hpp>

#include <redco/report/model_graph.hpp>
#include <redco/cost/simulation.hpp>
#include <redco/fact/stage_of.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <utility>

namespace redco::report {

REDCO_INLINE shard_report report_from(shard::dynamic_plan plan, fact::program const& facts, std::string optimizer,
                                      optimizer::demands const& demands, cost::setup const& run, std::int64_t budget) {
  shard_report report{run, std::move(optimizer), std::move(plan), {}, {}, graph_of(facts), budget};
  report.run.stages = report.plan.stages;
  if (run.mesh.pp > 1) {
    report.stages = cost::stage_costs(facts, demands, report.run);
    cost::stage_cost const& largest = cost::largest_of(report.stages);
    report.largest_stage = static_cast<std::size_t>(&largest - report.stages.data());
    report.cost = largest.cost;
    fact::program const part = fact::stage_of(facts, report.plan.stages, static_cast<int>(report.largest_stage));
    report.activations = cost::activations_of(cost::simulation(part, report.run));
  } else {
    report.cost = cost::cost_of_program(facts, demands, run);
    report.activations = cost::activations_of(cost::simulation(facts, run));
  }
  return report;
}

}  // namespace redco::report
