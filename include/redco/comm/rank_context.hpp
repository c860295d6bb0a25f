#pragma once

#include <redco/comm/group.hpp>
#include <redco/comm/lane.hpp>
#include <redco/comm/rank_groups.hpp>

#include <redco/shape/mesh.hpp>

#include <redco/tensor/memory_counter.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace redco {

/// A rank's view of a run: its coordinates in the mesh, its groups, and its memory counter.
struct rank_context {
  rank_context(int number, comm::rank_groups& all, std::shared_ptr<memory_counter> counter,
               std::chrono::milliseconds later)
      : rank(number),
        mesh(all.mesh()),
        world(all.of(every_axis, number)),
        dp(all.of(axis::dp, number)),
        tp(all.of(axis::tp, number)),
        memory(std::move(counter)),
        later_deadline(later),
        first_of_process(all.first_of_process(number)),
        several_processes(all.several_processes()),
        groups_(&all) {}

  int rank;
  redco::mesh mesh;
  redco::group& world;  ///< group of all ranks
  /// Ranks that differ from this rank along dp only: they hold the same shard in every replica.
  redco::group& dp;
  /// Ranks that hold the shards of this rank's replica.
  redco::group& tp;
  /// Memory counter of this rank; threads that work for the rank must install it.
  std::shared_ptr<memory_counter> memory;
  std::chrono::milliseconds later_deadline;
  /// True on one rank of each process, which does the work that a process needs once.
  bool first_of_process;
  /// True if some ranks run in other processes, which cannot see this process's memory.
  bool several_processes;

  /// Returns the group of ranks that differ from this rank along these axes only. Example:
  /// `me.group(axis::dp | axis::ep)`.
  redco::group& group(axes over) const { return groups_->of(over, rank); }

  /// Calls `visit(name, group)` for each group of this rank that is in use.
  void each_group(std::function<void(std::string const& name, redco::group&)> const& visit) const {
    groups_->each(rank, visit);
  }

  /// Returns the lane, a background thread for collectives, of the group over these axes. The first
  /// call creates the lane.
  comm::lane& lane(axes over) {
    redco::group& like = group(over);
    std::unique_ptr<comm::lane>& one = lanes_[&like];
    if (!one) one = std::make_unique<comm::lane>(groups_->of_lane(over, rank), like, memory);
    return *one;
  }

  /// Returns the index of this rank in its group over these axes.
  int coordinate(axes over) const noexcept { return mesh.coordinate(rank, over); }
  int dp_index() const noexcept { return coordinate(axis::dp); }
  int tp_index() const noexcept { return coordinate(axis::tp); }

  /// Sets the deadline of all groups to `later_deadline`. Call after the first step, when slow
  /// one-time work (first allocations, primitives) is over, so that waits end earlier.
  void first_step_done() { groups_->set_deadline(rank, later_deadline); }

 private:
  comm::rank_groups* groups_;
  std::map<redco::group*, std::unique_ptr<comm::lane>> lanes_;
};

}  // namespace redco
