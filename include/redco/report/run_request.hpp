#pragma once

#include <redco/cost/setup.hpp>

#include <redco/options/deployer_options.hpp>

#include <redco/model/model.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/recomputed_blocks.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace redco::report {

/// The form in which a request states its mesh. Suggested changes are written in this form.
enum class request_form : std::uint8_t {
  model_shards,  ///< --n-model-shards alone: one replica, with one rank per shard
  ranks,         ///< --ranks and --n-model-shards
  mesh,          ///< --mesh
  cmake          ///< MESHES of redco_add_shard_report
};

/// A run as requested on a command line or in a build. Batch sizes are global.
struct run_request {
  redco::mesh mesh = {};
  workload load = {};            ///< global batch and lengths of an example
  std::int64_t micro_batch = 0;  ///< examples that a replica computes at once; 0: its whole share
  dtype compute = dtype::f32;
  recomputed_blocks recompute = {};
  int hosts = 1;
  std::optional<bool> overlap = {};
  /// Size of a gradient bucket in MiB
  double gradient_bucket = deployer_options().gradient_bucket;
  request_form form = request_form::mesh;

  /// Returns true if another number of model shards keeps the number of ranks: if --ranks is given,
  /// or if there are several replicas.
  bool keeps_ranks() const;
};

/// Returns the run of one rank. Throws `error` with exit code 64 if the hosts do not divide the
/// ranks.
setup setup_of(run_request const& asked);

/// Returns the request with `shards` model shards and an equal global batch. Returns nullopt if the
/// ranks cannot be divided evenly into replicas and hosts.
std::optional<run_request> with_shards(run_request asked, int shards);

/// Returns the options that change `from` into `to`: "--mesh 8x2 --dtype bf16", or "MESHES 8x2
/// DTYPE bf16" for a build.
std::string changed_options(run_request const& from, run_request const& to);

}  // namespace redco::report

#ifndef REDCO_COMPILED
#include <redco/report/run_request.inl.hpp>
#endif
