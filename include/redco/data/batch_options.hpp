#pragma once

#include <cstdint>

namespace redco {

/// How a global batch is divided. Sizes are global: another mesh is the same job.
struct batch_options {
  /// Examples of one step over all ranks; the last step of an epoch uses what is left. At least dp.
  std::int64_t global_batch = 1;
  /// Most examples that a dp shard feeds through the model at once; 0: its whole shard.
  std::int64_t micro_batch = 0;
  /// Number of dp shards, and which of them this is.
  int dp = 1;
  int dp_index = 0;
};

}  // namespace redco
