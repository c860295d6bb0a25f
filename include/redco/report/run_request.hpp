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

/// The form in which a request states its mesh; a changed request is written in the same form.
enum class request_form : std::uint8_t {
  model_shards,  ///< --n-model-shards alone: one replica, as many ranks as shards
  ranks,         ///< --ranks and --n-model-shards
  mesh,          ///< --mesh
  cmake          ///< MESHES of redco_add_shard_report
};

/// A run as a command line or a build asks for it; sizes of batches are global.
struct run_request {
  redco::mesh mesh = {};
  workload load = {};            ///< global batch and lengths of an example
  std::int64_t micro_batch = 0;  ///< examples of a replica at once; 0: all of its share
  dtype compute = dtype::f32;
  recomputed_blocks recompute = {};
  int hosts = 1;
  std::optional<bool> overlap = {};
  double gradient_bucket = deployer_options().gradient_bucket;  ///< MiB
  request_form form = request_form::mesh;

  /// Returns true if another number of model shards leaves the number of ranks as it is: if --ranks
  /// states it, or if there are several replicas.
  bool keeps_ranks() const;
};

/// Returns the run of one rank. Throws `error` with exit code 64 if the hosts do not divide the
/// ranks.
setup setup_of(run_request const& asked);

/// Returns the request with `shards` model shards and the same global batch. Empty if its replicas
/// or its hosts cannot share the ranks equally.
std::optional<run_request> with_shards(run_request asked, int shards);

/// Returns what to write in place of the options of `from` to get `to`: "--mesh 8x2 --dtype bf16",
/// or "MESHES 8x2 DTYPE bf16" for a build.
std::string changed_options(run_request const& from, run_request const& to);

}  // namespace redco::report

#ifndef REDCO_COMPILED
#include <redco/report/run_request.inl.hpp>
#endif
