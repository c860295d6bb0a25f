#pragma once

#include <redco/report/shard_report.hpp>

#include <redco/report/model_graph.hpp>
#include <redco/cost/simulation.hpp>
#include <redco/config.hpp>

#include <utility>

namespace redco::report {

REDCO_INLINE shard_report report_from(shard::dynamic_plan plan, fact::program const& facts, std::string optimizer,
                                      optimizer::demands const& demands, cost::setup const& run, std::int64_t budget) {
  return {run,
          std::move(optimizer),
          std::move(plan),
          cost::cost_of_program(facts, demands, run),
          cost::activations_of(cost::simulation(facts, run)),
          graph_of(facts),
          budget};
}

}  // namespace redco::report
