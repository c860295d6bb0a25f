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

/// What one rank of a run knows: its place in the mesh, its groups, and its memory.
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
  redco::group& world;                     ///< all ranks
  redco::group& dp;                        ///< the same shard in every replica: ranks that differ along dp
  redco::group& tp;                        ///< the ranks that hold the shards of this replica
  std::shared_ptr<memory_counter> memory;  ///< to be carried by threads that work for this rank
  std::chrono::milliseconds later_deadline;
  bool first_of_process;   ///< one rank of each process is: what a process needs once is its to do
  bool several_processes;  ///< some ranks are in others: what is in memory may not be theirs

  /// The ranks that differ from this one along these axes only: `me.group(axis::dp | axis::ep)`.
  redco::group& group(axes over) const { return groups_->of(over, rank); }

  /// Calls `visit(name, group)` for each group of this rank that is in use.
  void each_group(std::function<void(std::string const& name, redco::group&)> const& visit) const {
    groups_->each(rank, visit);
  }

  /// What sums over the ranks of that group while this one computes. Made when it is first asked for.
  comm::lane& lane(axes over) {
    redco::group& like = group(over);
    std::unique_ptr<comm::lane>& one = lanes_[&like];
    if (!one) one = std::make_unique<comm::lane>(groups_->of_lane(over, rank), like, memory);
    return *one;
  }

  /// Which rank of that group this one is.
  int coordinate(axes over) const noexcept { return mesh.coordinate(rank, over); }
  int dp_index() const noexcept { return coordinate(axis::dp); }
  int tp_index() const noexcept { return coordinate(axis::tp); }

  /// To be called after the first step: what is slow once (first allocations, primitives) is over, so waits end
  /// earlier.
  void first_step_done() { groups_->set_deadline(rank, later_deadline); }

 private:
  comm::rank_groups* groups_;
  std::map<redco::group*, std::unique_ptr<comm::lane>> lanes_;
};

}  // namespace redco
