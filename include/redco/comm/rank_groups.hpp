#pragma once

#include <redco/comm/group.hpp>

#include <redco/shape/mesh.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace redco::comm {

/// A table of the groups of a world, with handles for the ranks of this process. Ranks that differ
/// only along a set of axes form a group. The groups over a set of axes are created when a rank
/// first requests one.
class rank_groups {
 public:
  /// A set of properties that identifies a group in its world.
  struct identity {
    std::string name;  ///< name of the set of axes, such as "tp"; a lane's ends with " lane"
    /// Number of the set of axes, below 16; 0 for all axes. Lanes add 16.
    int number;
    int line;  ///< index among the groups over these axes
  };

  /// A function that creates a group and returns one handle per member: null for members in other
  /// processes.
  using make_group =
      std::function<std::vector<std::unique_ptr<group>>(identity const& which, std::vector<int> const& members)>;

  /// Creates an empty table in a process that has the ranks `first` to `first + ranks_here - 1`.
  rank_groups(redco::mesh const& shape, int first, int ranks_here, make_group make);

  redco::mesh const& mesh() const noexcept { return mesh_; }
  bool several_processes() const noexcept { return ranks_here_ < mesh_.ranks(); }
  bool first_of_process(int rank) const noexcept { return rank == first_; }

  /// Returns the handle of `rank` on its group over these axes, and creates the groups on first
  /// use. All ranks may call it concurrently. Mesh axes of one rank make no difference.
  group& of(axes over, int rank) { return of(over, rank, false); }

  /// Returns a second handle of `rank` on its group over these axes, for the concurrent calls of a
  /// lane's thread.
  group& of_lane(axes over, int rank) { return of(over, rank, true); }

  /// Calls `visit(name, handle)` for each existing group of `rank` in the order of names, except
  /// groups of lanes.
  void each(int rank, std::function<void(std::string const& name, group&)> const& visit);

  /// Sets the deadline of all groups of `rank`, including groups created later. Only the thread of
  /// `rank` may call it.
  void set_deadline(int rank, std::chrono::milliseconds deadline);

  /// Prepares all groups for the next run: sets their deadline, resets their counters, and drops
  /// messages that nobody received. Call between runs.
  void begin_run(std::chrono::milliseconds deadline);

 private:
  static constexpr int first_of_lanes = 16;
  static constexpr char const* name_of_lanes = " lane";

  group& of(axes over, int rank, bool lane);
  std::vector<std::unique_ptr<group>> made(std::string const& name, axes over, int number) const;

  redco::mesh mesh_;
  int first_, ranks_here_;
  make_group make_;
  std::mutex mutex_;
  std::vector<std::chrono::milliseconds> deadlines_;  ///< deadline of each rank
  /// Handles by group name and rank.
  std::map<std::string, std::vector<std::unique_ptr<group>>> groups_;
};

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/rank_groups.inl.hpp>
#endif
