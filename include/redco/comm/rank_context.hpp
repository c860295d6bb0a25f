#pragma once

#include <redco/comm/group.hpp>
#include <redco/comm/lane.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/shape/mesh.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace redco::comm {

/// A table of the communication groups of a world, with handles for the ranks of this process. A
/// group consists of ranks that differ only along a set of mesh axes. The groups over a set of axes
/// are created when a rank first requests one.
class rank_groups {
 public:
  /// The properties that identify a communication group in its world.
  struct identity {
    /// Name of the set of mesh axes, such as "tp". For the group of a lane (a background thread), "
    /// lane" is appended.
    std::string name;
    /// Number of the set of mesh axes, below shape::axis_sets; 0 for all axes. Groups of lanes
    /// (background threads) have this number plus shape::axis_sets.
    int number;
    int line;  ///< index of the group among all groups over these axes
  };

  /// A function that creates a group and returns one handle per member. The handle is null for a
  /// member in another process.
  using make_group =
      std::function<std::vector<std::unique_ptr<group>>(identity const& which, std::vector<int> const& members)>;

  /// Creates an empty table for a process with the ranks `first` to `first + ranks_here - 1`.
  /// `make` creates the groups.
  rank_groups(redco::mesh const& shape, int first, int ranks_here, make_group make);

  redco::mesh const& mesh() const noexcept { return mesh_; }
  bool several_processes() const noexcept { return ranks_here_ < mesh_.ranks(); }
  bool first_of_process(int rank) const noexcept { return rank == first_; }

  /// Returns the handle of `rank` on its group over the mesh axes `over`, and creates the groups on
  /// first use. All ranks may call it concurrently. Axes of size 1 in `over` are ignored.
  group& of(shape::axes over, int rank) { return of(over, rank, false); }

  /// Returns a second handle of `rank` on its group over the mesh axes `over`. The handle is for
  /// the background thread of a lane, which calls concurrently with the rank.
  group& of_lane(shape::axes over, int rank) { return of(over, rank, true); }

  /// Calls `visit(name, handle)` for each existing group of `rank`, in the order of names. Omits
  /// the groups of lanes (background threads).
  void each(int rank, std::function<void(std::string const& name, group&)> const& visit);

  /// Sets the deadline of all groups of `rank`, including groups created later. Only the thread of
  /// `rank` may call it.
  void set_deadline(int rank, std::chrono::milliseconds deadline);

  /// Prepares all groups for the next run (call of world::run). Sets their deadline, resets their
  /// counters, and drops messages that were not received. Must not be called during a run.
  void begin_run(std::chrono::milliseconds deadline);

 private:
  static constexpr int first_of_lanes = shape::axis_sets;
  static constexpr char const* name_of_lanes = " lane";

  group& of(shape::axes over, int rank, bool lane);
  std::vector<std::unique_ptr<group>> made(std::string const& name, shape::axes over, int number) const;

  redco::mesh mesh_;
  int first_, ranks_here_;
  make_group make_;
  std::mutex mutex_;
  /// Current deadline of each rank of this process.
  std::vector<std::chrono::milliseconds> deadlines_;
  /// Group handles, by the group's name and then by rank.
  std::map<std::string, std::vector<std::unique_ptr<group>>> groups_;
};

}  // namespace redco::comm

namespace redco {

/// The argument of a rank's function in world::run. It holds the rank's number and mesh
/// coordinates, its communication groups, and its memory counter.
struct rank_context {
  /// Creates the context of rank `number`. `all`: the groups of this process's ranks; `counter`:
  /// the rank's memory counter; `later`: the deadline of waits after the first step.
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

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/rank_context.inl.hpp>
#endif
