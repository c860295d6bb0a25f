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

/// The groups of a world, as far as its ranks are in this process. Each set of axes gets its groups when a rank first asks for
/// one: ranks that lie on one line, plane ... along these axes are a group.
class rank_groups {
 public:
  /// What tells a group from others.
  struct identity {
    std::string name;  ///< of the axes
    int number;        ///< of the axes, below 16; 0: all of them. Of lanes 16 more
    int line;          ///< among the groups over these axes
  };

  /// How a group is made: a handle for each of its members, null for those of other processes.
  using make_group =
      std::function<std::vector<std::unique_ptr<group>>(identity const& which, std::vector<int> const& members)>;

  /// `ranks_here` ranks from `first` on are in this process.
  rank_groups(redco::mesh const& shape, int first, int ranks_here, make_group make);

  redco::mesh const& mesh() const noexcept { return mesh_; }
  bool several_processes() const noexcept { return ranks_here_ < mesh_.ranks(); }
  bool first_of_process(int rank) const noexcept { return rank == first_; }

  /// The handle of `rank` on its group over these axes; all ranks may call it at once. Axes of one rank make no difference.
  group& of(axes over, int rank) { return of(over, rank, false); }

  /// Another handle on the same ranks, for calls that another thread makes meanwhile (lane).
  group& of_lane(axes over, int rank) { return of(over, rank, true); }

  /// Calls `visit(name, handle)` for each group that some rank has asked for, in the order of their
  /// names; lanes are left out.
  void each(int rank, std::function<void(std::string const& name, group&)> const& visit);

  /// For all groups of a rank, those made later too. To be called by its thread.
  void set_deadline(int rank, std::chrono::milliseconds deadline);

  /// Between runs: every wait ends after `deadline`; counts and what nobody received are forgotten.
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
  std::vector<std::chrono::milliseconds> deadlines_;                   ///< by rank
  std::map<std::string, std::vector<std::unique_ptr<group>>> groups_;  ///< handles by name and rank
};

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/rank_groups.inl.hpp>
#endif
