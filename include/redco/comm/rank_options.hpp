#pragma once

#include <chrono>

namespace redco {

/// How the ranks of a world wait and how many threads each rank's operators use.
struct rank_options {
  std::chrono::milliseconds first_deadline{
      300'000};                                 ///< for joining, and every wait until rank_context::first_step_done
  std::chrono::milliseconds deadline{120'000};  ///< for every later wait
  std::chrono::milliseconds grace{8'000};       ///< from the first failure until all ranks must have ended
  bool deterministic = false;  ///< sums in rank order even where that sends more (process_group, nccl_group)
  int threads = 0;             ///< per rank; 0: what libtorch would use, shared by the ranks
};

}  // namespace redco
