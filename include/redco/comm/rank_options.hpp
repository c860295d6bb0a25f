#pragma once

#include <chrono>

namespace redco {

/// A set of options for the waits of ranks and for the threads of their operators.
struct rank_options {
  /// Longest time for joining, and for each wait until rank_context::first_step_done().
  std::chrono::milliseconds first_deadline{300'000};
  std::chrono::milliseconds deadline{120'000};  ///< longest time of each later wait
  /// Time from the first failure until all ranks must have ended.
  std::chrono::milliseconds grace{8'000};
  /// True to sum in rank order even if this sends more bytes (process_group, nccl_group).
  bool deterministic = false;
  /// Threads of each rank; 0 divides libtorch's default number among the ranks.
  int threads = 0;
};

}  // namespace redco
