#pragma once

#include <redco/cost/cost_of.hpp>

#include <redco/shard/plan.hpp>

#include <string>

namespace redco {

/// What a report says: a run, its plan, and what it costs.
struct shard_report {
  setup run;
  std::string optimizer;
  dynamic_plan plan;
  redco::cost cost;
};

/// The report of a model. Errors: exit code 64 with the legal widths when the mesh cannot hold the model.
template <model M, class Optimizer>
shard_report report_of(M const& m, Optimizer const& optimizer, setup const& run) {
  dynamic_plan p = plan_of(m, run.mesh);
  return {run, std::string(Optimizer::name), std::move(p), cost_of(m, optimizer, run)};
}

}  // namespace redco
