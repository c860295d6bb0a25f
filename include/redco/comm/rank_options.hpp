#pragma once

#include <chrono>

namespace redco::comm {

/// Options of a world: time limits for waits, and threads per rank.
struct rank_options {
  /// Longest time for connecting the processes, and for each wait before
  /// rank_context::first_step_done() is called.
  std::chrono::milliseconds first_deadline{300'000};
  std::chrono::milliseconds deadline{120'000};  ///< longest time of each wait after the first step
  /// Longest time that the other ranks may take to end after the first failure. Then the process
  /// exits.
  std::chrono::milliseconds grace{8'000};
  /// If true, sums always run in rank order, even if this sends more bytes (process_group,
  /// nccl_group).
  bool deterministic = false;
  /// Number of libtorch threads per rank. 0 divides libtorch's default number among the ranks.
  int threads = 0;
};

}  // namespace redco::comm
