#pragma once

#include <redco/comm/rank_context.hpp>

#include <redco/tensor/function_ref.hpp>

namespace redco::comm {

/// The ranks of a mesh with what joins them, made once: it serves any number of runs, one after the other. Here the ranks are
/// threads of this process (thread_world) or processes of which this is one (process_world).
class world {
 public:
  world() = default;
  world(world const&) = delete;
  world& operator=(world const&) = delete;
  virtual ~world() = default;

  /// Calls `f(rank_context&)` for each rank of this process, all at once, and returns when all ranks of the world have returned.
  ///
  /// The first failure of a rank ends the others' waits; when all have ended it is thrown, in every process, as one `error` whose
  /// text starts with its rank ("rank 1: ..."), with the failure's own exit code, or `internal` for exceptions that are no redco
  /// errors. A rank that returns while others wait for it is a lost peer (`peer_lost`). If a rank does not end within
  /// `rank_options::grace` after a failure, its process prints the failure and exits with its code.
  virtual void run(function_ref<void(rank_context&)> f) = 0;
};

}  // namespace redco::comm
