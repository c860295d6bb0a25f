#pragma once

#include <redco/report/run_request.hpp>

#include <redco/cost/checks.hpp>
#include <redco/shard/plan.hpp>
#include <redco/options/overlap.hpp>
#include <redco/options/value_text.hpp>
#include <redco/options/zero_within.hpp>
#include <redco/shape/hosts.hpp>
#include <redco/shape/stage_cuts.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <string>

namespace redco::report {

REDCO_INLINE cost::setup setup_of(run_request const& asked) {
  cost::check_hosts(asked.mesh, asked.hosts);
  options::grouped_mesh const grouped =
      options::mesh_with_shares(asked.zero_within, asked.mesh, asked.hosts, asked.zero.level);
  cost::setup run = setup_of(grouped.mesh, asked.load, asked.micro_batch, asked.compute, asked.recompute);
  run.hosts = asked.hosts;
  run.stages = asked.stages;
  run.table = asked.table.get();
  run.zero = options::zero_of(asked.zero, grouped, asked.hosts, asked.overlap, asked.gradient_bucket);
  run.overlap_shards = options::overlaps_shards(
      asked.mesh, shape::host_map{asked.mesh, asked.hosts}.parts(shape::axis::tp), asked.overlap);
  return run;
}

REDCO_INLINE std::string changed_options(run_request const& from, run_request const& to) {
  bool const builds = to.form == request_form::cmake, names_mesh = builds || to.form == request_form::mesh;
  std::string text;
  auto const add = [&](char const* flag, char const* argument, std::string const& value) {
    text += (text.empty() ? "" : " ") + std::string(builds ? argument : flag) + " " + value;
  };
  if (!(to.mesh == from.mesh)) {
    if (names_mesh) add("--mesh", "MESHES", options::to_text(to.mesh));
    else add("--n-model-shards", "", std::to_string(to.mesh.tp));
  }
  if (to.compute != from.compute) add("--dtype", "DTYPE", std::string(name_of(to.compute)));
  if (to.micro_batch != from.micro_batch) add("--micro-batch", "MICRO_BATCH", std::to_string(to.micro_batch));
  if (to.recompute != from.recompute) add("--recompute", "RECOMPUTE", options::to_text(to.recompute));
  return text;
}

}  // namespace redco::report

namespace redco::report::detail {

/// Returns the mesh of a requested run with `width` ranks along the axis `along`. If --ranks is
/// given, the remaining ranks become replicas. Returns a mesh with dp = 0 if `width` does not
/// divide the number of ranks.
REDCO_INLINE mesh mesh_with(run_request const& asked, shape::axis along, int width) {
  mesh on = asked.mesh;
  on[along] = width;
  int const ranks = asked.mesh.ranks() / asked.mesh.pp;
  if (asked.form == request_form::ranks) on.dp = ranks % width == 0 ? ranks / width : 0;
  return on;
}

}  // namespace redco::report::detail

namespace redco::report {

REDCO_INLINE void check_mesh(std::vector<fact::parameter_fact> const& parameters, run_request const& asked,
                             std::string_view hosts) {
  std::size_t const bad = shard::first_illegal(parameters, asked.mesh);
  if (!shard::plannable(asked.mesh) || bad == parameters.size()) return;
  shape::axis const along = shard::illegal_place(parameters[bad], asked.mesh).axis;
  std::vector<int> widths;
  for (int const width : shard::legal_widths(parameters, 64, along)) {
    mesh const on = detail::mesh_with(asked, along, width);
    if (on.dp > 0 && on.ranks() % asked.hosts == 0 && shard::first_illegal(parameters, on) == parameters.size())
      widths.push_back(width);
  }
  std::string cure = "choose one with --n-model-shards";
  if (asked.form == request_form::mesh) cure = "choose one in --mesh";
  if (asked.form == request_form::cmake) cure = "choose one in MESHES";
  if (asked.form == request_form::ranks)
    cure = "choose one with --n-model-shards for the same " + std::to_string(asked.mesh.ranks()) + " ranks";
  if (widths.empty()) {
    widths = shard::legal_widths(parameters, 64, along);
    cure += ", and a number of " + std::string(hosts) + " that divides the ranks";
  }
  throw error(exit_code::usage, shard::detail::illegal_mesh_message(parameters[bad], asked.mesh, widths, cure));
}

}  // namespace redco::report
