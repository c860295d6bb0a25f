#pragma once

#include <redco/report/check_mesh.hpp>

#include <redco/shard/plan.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <string>

namespace redco::report::detail {

/// Returns the mesh of a requested run with `width` ranks along the axis `along`. If --ranks is
/// given, the remaining ranks become replicas. Returns a mesh with dp = 0 if `width` does not
/// divide the number of ranks.
REDCO_INLINE mesh mesh_with(run_request const& asked, shape::axis along, int width) {
  mesh on = asked.mesh;
  on[along] = width;
  if (asked.form == request_form::ranks) on.dp = asked.mesh.ranks() % width == 0 ? asked.mesh.ranks() / width : 0;
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
