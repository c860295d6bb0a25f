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

/// The argument of a rank's function in world::run. It holds the rank's number and mesh
/// coordinates, its communication groups, and its memory counter.
struct rank_context {
  rank_context(int number, comm::rank_groups& all, std::shared_ptr<tensors::memory_counter> counter,
               std::chrono::milliseconds later)
      : rank(number),
        mesh(all.mesh()),
        world(all.of(shape::every_axis, number)),
        dp(all.of(shape::axis::dp, number)),
        tp(all.of(shape::axis::tp, number)),
        memory(std::move(counter)),
        later_deadline(later),
        first_of_process(all.first_of_process(number)),
        several_processes(all.several_processes()),
        groups_(&all) {}

  int rank;
  redco::mesh mesh;
  comm::group& world;  ///< group of all ranks
  /// Group of the ranks that differ from this rank only along the mesh axis dp. They hold the same
  /// shard in different replicas.
  comm::group& dp;
  /// Group of the ranks that differ from this rank only along the mesh axis tp. They hold the
  /// shards of one replica.
  comm::group& tp;
  /// Memory counter of this rank. Each additional thread that works for the rank must report to it.
  std::shared_ptr<tensors::memory_counter> memory;
  std::chrono::milliseconds later_deadline;
  /// True on exactly one rank of each process. That rank does work that is needed once per process.
  bool first_of_process;
  /// True if some ranks run in other processes, which cannot see this process's memory.
  bool several_processes;

  /// Returns the group of ranks that differ from this rank only along the mesh axes `over`.
  /// Example: `me.group(axis::dp | axis::ep)`.
  comm::group& group(shape::axes over) const { return groups_->of(over, rank); }

  /// Calls `visit(name, group)` for each group of this rank that has been created so far.
  void each_group(std::function<void(std::string const& name, comm::group&)> const& visit) const {
    groups_->each(rank, visit);
  }

  /// Returns the lane (background thread for collectives) of this rank's group over the mesh axes
  /// `over`. The first call creates the lane.
  comm::lane& lane(shape::axes over) {
    comm::group& like = group(over);
    std::unique_ptr<comm::lane>& one = lanes_[&like];
    if (!one) one = std::make_unique<comm::lane>(groups_->of_lane(over, rank), like, memory);
    return *one;
  }

  /// Returns the index of this rank in its group over the mesh axes `over`.
  int coordinate(shape::axes over) const noexcept { return mesh.coordinate(rank, over); }
  int dp_index() const noexcept { return coordinate(shape::axis::dp); }
  int tp_index() const noexcept { return coordinate(shape::axis::tp); }

  /// Shortens the deadline of all groups of this rank to `later_deadline`. The rank calls it after
  /// its first step, when slow one-time work (allocations, compilation of primitives) is done.
  void first_step_done() { groups_->set_deadline(rank, later_deadline); }

 private:
  comm::rank_groups* groups_;
  std::map<comm::group*, std::unique_ptr<comm::lane>> lanes_;
};

}  // namespace redco
