#pragma once

#include <redco/cost/checks.hpp>
#include <redco/cost/setup.hpp>
#include <redco/model/model.hpp>
#include <redco/options/deployer_options.hpp>
#include <redco/options/zero_within.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/zero.hpp>
#include <redco/schedule/pipeline_table.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redco::report {

/// Returns the settings of one rank for a run with the global batch `load`. Ranks along the axes dp
/// and ep take equal shares of the batch and compute `micro_batch` examples at once (0: the whole
/// share). Throws `error` with exit code 64 for an empty batch, a negative micro-batch or an axis
/// without ranks.
constexpr cost::setup setup_of(mesh const& on, workload const& load, std::int64_t micro_batch, dtype compute,
                               recomputed_blocks const& recompute) {
  cost::check_axes(on);
  cost::check_load(load);
  cost::check_count("the examples computed at once (micro_batch)", micro_batch, 0);
  std::int64_t const share = (load.batch - 1) / on.size(shape::batch_axes) + 1;
  std::int64_t const at_once = micro_batch > 0 && micro_batch < share ? micro_batch : share;
  cost::setup run;
  run.mesh = on;
  run.load = load;
  run.load.batch = at_once;
  run.compute = compute;
  run.recompute = recompute;
  run.micro_batches = (share - 1) / at_once + 1;
  return run;
}

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
  /// State that replicas share out: level, owner and kept blocks. Mesh, hosts, `zero_within` and
  /// `overlap` decide the other members.
  shape::zero zero = {};
  std::string zero_within = "run";  ///< Replicas that share state out: run, host, or their number
  request_form form = request_form::mesh;
  cost::stage_settings stages = {};
  /// Order of a schedule file, in place of `stages.schedule`; null for none. Must outlive the
  /// setups of the run.
  std::shared_ptr<schedule::pipeline_table const> table = {};

  /// Returns true if the number of ranks must stay constant when the number of model shards
  /// changes: --ranks is given, or there are several replicas.
  bool keeps_ranks() const { return form == request_form::ranks || mesh.dp > 1; }
};

/// Returns the settings of a requested run from which the cost of one rank is computed. Throws
/// `error` with exit code 64 if the number of hosts does not divide the number of ranks.
cost::setup setup_of(run_request const& asked);

/// Returns the requested run `asked` with `shards` model shards and an unchanged global batch.
/// Returns nullopt if the ranks cannot be divided evenly into replicas, hosts and groups of
/// replicas that share state out.
std::optional<run_request> with_shards(run_request asked, int shards);

/// Returns the options that a user must change to get the run `to` instead of the run `from`:
/// "--mesh 8x2 --dtype bf16", or "MESHES 8x2 DTYPE bf16" for a build.
std::string changed_options(run_request const& from, run_request const& to);

/// Throws `error` with exit code 64 if the requested mesh cannot hold a model with these
/// parameters. The message lists the widths of the mesh axis that would be legal; if --ranks is
/// given, only widths that divide the number of ranks. `hosts` is the word for hosts in the
/// message.
void check_mesh(std::vector<fact::parameter_fact> const& parameters, run_request const& asked,
                std::string_view hosts = "hosts");

inline std::optional<run_request> with_shards(run_request asked, int shards) {
  if (asked.keeps_ranks()) {
    int const ranks = asked.mesh.dp * asked.mesh.tp;  // of one pipeline stage
    if (ranks % shards != 0) return {};
    asked.mesh.dp = ranks / shards;
  }
  asked.mesh.tp = shards;
  if (asked.mesh.ranks() % asked.hosts != 0) return {};
  int const sharing = options::replicas_of_group(asked.zero_within, asked.mesh, asked.hosts);
  if (asked.zero_within != "run" && !options::divides_into_groups(asked.mesh, sharing)) return {};
  return asked;
}

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/run_request.inl.hpp>
#endif
