#pragma once

#include <redco/model/model.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/recomputed_blocks.hpp>

#include <cstdint>

namespace redco {

/// The run whose cost is asked for.
struct setup {
  redco::mesh mesh = {};
  workload load = {};                ///< of one rank's micro-batch
  dtype compute = dtype::f32;        ///< bf16 keeps f32 masters
  recomputed_blocks recompute = {};  ///< blocks of each repeat that run again in backward
  std::int64_t micro_batches = 1;    ///< per step and rank
  std::int64_t prefetch = 2;         ///< batches prepared ahead, besides the one that is computed
  int hosts = 1;                     ///< on which the ranks lie, equally many neighbours on each
  std::int64_t gradient_bucket = 0;  ///< bytes of gradients that are summed at once beside backward; 0: all, behind it
  bool overlap_shards = false;       ///< what shards send passes beside their products
};

}  // namespace redco
