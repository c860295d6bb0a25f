#pragma once

#include <redco/data/data_position.hpp>
#include <redco/data/interval.hpp>

#include <cstdint>

namespace redco {

/// One optimizer step as a dp shard sees it; intervals are places in the epoch's order.
struct batch_step {
  /// The examples of all shards.
  interval global;
  /// The examples of this shard. Empty when the last batch has fewer examples than there are shards: such a shard runs
  /// no micro-batch and takes part in the step's collectives with gradients of zero and a count of zero.
  interval local;
  /// Micro-batches of this shard. Shards may differ: a layer that sums over dp within a micro-batch does so in rounds, which a
  /// shard without a micro-batch sits out.
  std::int64_t micro_batches = 0;
  /// Micro-batches of the largest shard: how often ranks must meet that do communicate over dp within micro-batches.
  std::int64_t rounds = 0;
  /// Micro-batches of the smallest shard: rounds in which every shard has one.
  std::int64_t full_rounds = 0;
  /// Where the run stands after this step; the end of an epoch is the start of the next.
  data_position next;
};

}  // namespace redco
