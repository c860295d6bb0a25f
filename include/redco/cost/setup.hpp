#pragma once

#include <redco/model/model.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/sequence_part.hpp>
#include <redco/shape/stage_cuts.hpp>
#include <redco/shape/zero.hpp>
#include <redco/schedule/pipeline_table.hpp>

#include <cstdint>

namespace redco::cost {

/// The settings of a run's pipeline stages.
struct stage_settings {
  /// Order in which pipeline stages compute their micro-batches
  schedule::pipeline_kind schedule = schedule::pipeline_kind::one_f_one_b;
  /// Blocks of each chunk of the pipeline stages; by default about equal work
  shape::stage_cuts cuts = {};
  int chunks_per_stage = 1;  ///< Number of chunks (consecutive blocks) of each pipeline stage

  friend constexpr bool operator==(stage_settings const&, stage_settings const&) = default;
};

/// The settings of a run on which its cost depends.
struct setup {
  redco::mesh mesh = {};
  workload load = {};  ///< Number of examples and their length in one rank's micro-batch
  /// Dtype of computation; with bf16, the optimizer keeps f32 copies of parameters
  dtype compute = dtype::f32;
  recomputed_blocks recompute = {};  ///< Blocks of each `repeat` that are recomputed in backward
  std::int64_t micro_batches = 1;    ///< Number of micro-batches per step on each rank
  /// Number of batches prepared ahead, in addition to the current one
  std::int64_t prefetch = 2;
  int hosts = 1;  ///< Number of hosts; each has an equal number of consecutive ranks
  /// Number of machines; 0: one per host. Decides which tensors pass between stages in parts.
  /// Processes of a run that share a machine count as several hosts.
  int machines = 0;
  /// State that replicas share out, and sums of gradients in backward. cost_of() sets the member
  /// owns_all to what the optimizer demands.
  shape::zero zero = {};
  /// True if messages between tensor-parallel shards overlap with matrix products
  bool overlap_shards = false;
  stage_settings stages = {};
  /// Order of a schedule file, in place of `stages.schedule`; null for none. The table must outlive
  /// the setup.
  schedule::pipeline_table const* table = nullptr;

  /// Returns the load of one rank for the model's program. The ranks along the mesh axis cp compute
  /// a part of each sequence.
  constexpr workload rank_load() const {
    if (mesh.cp == 1) return load;
    workload own = load;
    own.sequence = shape::sequence_part{0, mesh.cp, load.sequence}.count();
    own.parts = mesh.cp;
    own.whole = load.sequence;
    own.shards = mesh.tp;
    return own;
  }
};

}  // namespace redco::cost

namespace redco::cost::detail {

/// Returns the bytes of a tensor [examples, tokens] of a batch, of which the rank computes `part`
/// bytes. A batch has whole sequences on each rank.
constexpr std::int64_t whole_batch(std::int64_t part, setup const& s) {
  return s.mesh.cp == 1 ? part : part / s.rank_load().sequence * s.load.sequence;
}

/// Returns the bytes of this tensor while the rank computes with it. If sequences have parts, the
/// rank also holds its own part.
constexpr std::int64_t held_batch(std::int64_t part, setup const& s) {
  return whole_batch(part, s) + (s.mesh.cp > 1 ? part : 0);
}

}  // namespace redco::cost::detail
