#pragma once

#include <redco/comm/rank_context.hpp>
#include <redco/tensor/function_ref.hpp>

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

/// The ranks of a mesh, connected with each other. A world is created once and executes any number
/// of runs, one after the other. The ranks are threads of this process (thread_world) or of several
/// processes (make_process_world).
class world {
 public:
  world() = default;
  world(world const&) = delete;
  world& operator=(world const&) = delete;
  virtual ~world() = default;

  /// Calls `f(rank_context&)` concurrently for each rank of this process, and returns when all
  /// ranks of the world have returned. The first failure ends all waits; every process then throws
  /// it as `error`. The error's text starts with the rank ("rank 1: ..."); the exit code is the
  /// failure's own, or 70 for other exceptions. If a rank returns while others wait for it, the
  /// failure is `peer_lost`. If a rank does not end within `rank_options::grace` after a failure,
  /// its process prints the failure and exits.
  virtual void run(tensors::function_ref<void(rank_context&)> f) = 0;
};

}  // namespace redco::comm
