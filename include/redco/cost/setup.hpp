#pragma once

#include <redco/model/model.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/recomputed_blocks.hpp>

#include <cstdint>

namespace redco {

/// A run whose cost is computed.
struct setup {
  redco::mesh mesh = {};
  workload load = {};                ///< batch and lengths of one rank's micro-batch
  dtype compute = dtype::f32;        ///< compute type; bf16 also keeps f32 masters
  recomputed_blocks recompute = {};  ///< blocks of each repeat that are recomputed in backward
  std::int64_t micro_batches = 1;    ///< number of micro-batches per step and rank
  /// Number of batches prepared ahead, in addition to the current batch
  std::int64_t prefetch = 2;
  int hosts = 1;  ///< number of hosts; each has an equal number of consecutive ranks
  /// Bytes of gradients summed at once during backward; 0: all after backward
  std::int64_t gradient_bucket = 0;
  bool overlap_shards = false;  ///< messages between shards overlap with their matrix products
};

}  // namespace redco
