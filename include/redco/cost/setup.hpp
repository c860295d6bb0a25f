#pragma once

#include <redco/model/model.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/stage_cuts.hpp>
#include <redco/schedule/pipeline_table.hpp>

#include <cstdint>

namespace redco::cost {

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
  /// Bytes of gradients that are summed at once during backward; 0: all gradients are summed after
  /// backward
  std::int64_t gradient_bucket = 0;
  int zero = 0;  ///< Level of ZeRO: state of which each replica keeps a share
  /// True if messages between tensor-parallel shards overlap with matrix products
  bool overlap_shards = false;
  /// Order in which pipeline stages compute their micro-batches; one with one chunk per stage
  schedule::pipeline_kind schedule = schedule::pipeline_kind::one_f_one_b;
  shape::stage_cuts stages = {};  ///< Blocks of each pipeline stage; by default about equal work
};

}  // namespace redco::cost
