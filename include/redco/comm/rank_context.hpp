#pragma once

#include <redco/comm/group.hpp>

#include <redco/shape/mesh.hpp>

#include <redco/tensor/memory_counter.hpp>

#include <chrono>
#include <memory>

namespace redco {

/// What one rank of a run knows: its place in the mesh, its groups, and its memory.
struct rank_context {
  int rank;
  redco::mesh mesh;
  group& world;                            ///< all ranks
  group& dp;                               ///< the ranks that hold the same shard of the model, over the replicas
  group& tp;                               ///< the ranks that hold the shards of this replica
  std::shared_ptr<memory_counter> memory;  ///< to be carried by threads that work for this rank
  std::chrono::milliseconds later_deadline;

  int dp_index() const noexcept { return mesh.coordinate(rank, axis::dp); }
  int tp_index() const noexcept { return mesh.coordinate(rank, axis::tp); }

  /// To be called after the first step: what is slow once (first allocations, primitives) is over, so waits end
  /// earlier.
  void first_step_done() {
    for (group* one : {&world, &dp, &tp}) one->set_deadline(later_deadline);
  }
};

}  // namespace redco
