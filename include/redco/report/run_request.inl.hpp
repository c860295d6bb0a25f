#pragma once

#include <redco/report/run_request.hpp>

#include <redco/report/setup_of.hpp>

#include <redco/cost/check_hosts.hpp>

#include <redco/options/gradient_bucket.hpp>
#include <redco/options/mesh_text.hpp>
#include <redco/options/overlaps_shards.hpp>
#include <redco/options/recomputed_blocks_text.hpp>

#include <redco/shape/host_map.hpp>

#include <redco/config.hpp>

namespace redco::report {

REDCO_INLINE bool run_request::keeps_ranks() const { return form == request_form::ranks || mesh.dp > 1; }

REDCO_INLINE cost::setup setup_of(run_request const& asked) {
  cost::check_hosts(asked.mesh, asked.hosts);
  cost::setup run = setup_of(asked.mesh, asked.load, asked.micro_batch, asked.compute, asked.recompute);
  run.hosts = asked.hosts;
  run.gradient_bucket = options::gradient_bucket(asked.mesh, asked.hosts, asked.overlap, asked.gradient_bucket);
  run.overlap_shards = options::overlaps_shards(
      asked.mesh, shape::host_map{asked.mesh, asked.hosts}.parts(shape::axis::tp), asked.overlap);
  return run;
}

REDCO_INLINE std::optional<run_request> with_shards(run_request asked, int shards) {
  if (asked.keeps_ranks()) {
    int const ranks = asked.mesh.dp * asked.mesh.tp;
    if (ranks % shards != 0) return {};
    asked.mesh.dp = ranks / shards;
  }
  asked.mesh.tp = shards;
  if (asked.mesh.ranks() % asked.hosts != 0) return {};
  return asked;
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
