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

/// A form in which a user gives the mesh of a run. Suggestions to change the mesh are written in
/// this form.
enum class request_form : std::uint8_t {
  model_shards,  ///< Form: the user gives only the option --n-model-shards, for one replica
  ranks,         ///< Form: the user gives the options --ranks and --n-model-shards
  mesh,          ///< Form: the user gives the option --mesh
  /// Form: the user gives the argument MESHES of the CMake function redco_add_shard_report.
  cmake
};

/// A run as requested on a command line or in a build: mesh, batch, dtype and other settings. Batch
/// sizes count the examples of one step over all replicas.
struct run_request {
  redco::mesh mesh = {};
  workload load = {};  ///< Batch size over all replicas, and lengths of an example
  /// Number of examples that a replica computes at once; 0: its whole share of the batch.
  std::int64_t micro_batch = 0;
  dtype compute = dtype::f32;
  recomputed_blocks recompute = {};
  int hosts = 1;
  std::optional<bool> overlap = {};
  /// Size in MiB of the buckets in which gradients are summed
  double gradient_bucket = deployer_options().gradient_bucket;
  request_form form = request_form::mesh;

  /// Returns true if the number of ranks must stay constant when the number of model shards
  /// changes: --ranks is given, or there are several replicas.
  bool keeps_ranks() const;
};

/// Returns the settings of a requested run from which the cost of one rank is computed. Throws
/// `error` with exit code 64 if the number of hosts does not divide the number of ranks.
cost::setup setup_of(run_request const& asked);

/// Returns the requested run `asked` with `shards` model shards and an unchanged global batch.
/// Returns nullopt if the ranks cannot be divided evenly into replicas and hosts.
std::optional<run_request> with_shards(run_request asked, int shards);

/// Returns the options that a user must change to get the run `to` instead of the run `from`:
/// "--mesh 8x2 --dtype bf16", or "MESHES 8x2 DTYPE bf16" for a build.
std::string changed_options(run_request const& from, run_request const& to);

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/run_request.inl.hpp>
#endif
