#pragma once

#include <cstdint>
#include <vector>

namespace redco {

/// What one rank feeds through the model at once.
struct micro_batch {
  /// The step it belongs to, counted from the position at which the batches began.
  std::int64_t step = 0;
  /// Its number within the step on this dp shard.
  std::int64_t index = 0;
  /// The place of its first example within the step's global batch: with the step, the row coordinate of random
  /// numbers.
  std::int64_t first_example = 0;
  /// Indices into the data set, at least one.
  std::vector<std::int64_t> examples;
};

}  // namespace redco
