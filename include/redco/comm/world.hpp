#pragma once

#include <redco/comm/rank_context.hpp>

#include <redco/tensor/function_ref.hpp>

namespace redco::comm {

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
