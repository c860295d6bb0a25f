#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/stage_choices.hpp>
#include <redco/report/run_request.hpp>
#include <redco/cost/checks.hpp>
#include <redco/cost/setup.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/model.hpp>
#include <redco/options/deployer_options.hpp>
#include <redco/options/launch.hpp>
#include <redco/options/value_text.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/program.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/zero.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace redco::run {

/// Throws `error` with exit code 64 if a mesh of this shape cannot hold these parameters. The
/// message lists the numbers of model shards that are legal for the run's number of ranks.
inline void check_widths(std::vector<fact::parameter_fact> const& parameters, mesh const& on,
                         deployer_options const& options, options::launch const& how) {
  report::run_request asked{
      .mesh = shape::without_groups(on), .hosts = how.processes, .form = report::request_form::model_shards};
  if (options.mesh) asked.form = report::request_form::mesh;
  else if (options.ranks || how.processes > 1) asked.form = report::request_form::ranks;
  report::check_mesh(parameters, asked, "processes");
}

/// Throws `error` with exit code 64 if the mesh has ranks along ep and the model has no experts to
/// divide. `splits`: true if the model has parameters split over ep.
inline void check_experts(bool splits, mesh const& on) {
  if (!splits && on.ep > 1)
    throw error(exit_code::usage, "--mesh " + options::to_text(on) +
                                      ": the model has no experts to divide along ep; give these ranks to dp");
}

/// Returns the plan (split of every parameter) of a model on the mesh of a run. Throws the errors
/// of `check_experts` and `check_widths`, and those of wrong numbers of recomputed and kept blocks.
template <model M>
shard::dynamic_plan planned(M const& m, mesh const& on, deployer const& where) {
  fact::program const facts = shard::facts_of(m);
  check_experts(std::any_of(facts.parameters.begin(), facts.parameters.end(),
                            [](fact::parameter_fact const& p) { return p.on(shape::axis::ep).dim >= 0; }),
                on);
  check_widths(facts.parameters, on, where.options(), options::launched());
  cost::check_recomputed(facts, where.options().recompute);
  cost::check_kept_blocks(facts, where.options().zero_keep);
  check_stage_layers(facts, on);
  std::string const& asked = where.options().stages;
  return plan_of(m, on, asked.empty() ? std::vector<std::int64_t>() : options::parse_stages(asked),
                 where.options().chunks_per_stage);
}

}  // namespace redco::run
