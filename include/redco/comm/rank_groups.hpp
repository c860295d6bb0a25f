#pragma once

#include <redco/comm/group.hpp>

#include <redco/shape/mesh.hpp>

#include <algorithm>
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
  /// How a group is made: a handle for each of its members, null for those of other processes. Groups of one set of axes have
  /// one number, 0 for all axes, below 16; those of lanes have 16 more.
  using make_group = std::function<std::vector<std::unique_ptr<group>>(std::string const& name, int number,
                                                                       std::vector<int> const& members)>;

  /// `only` is the rank that this process has; -1: all.
  rank_groups(redco::mesh const& shape, make_group make, int only = -1);

  redco::mesh const& mesh() const noexcept { return mesh_; }
  bool one_per_process() const noexcept { return only_ >= 0; }
  bool first_of_process(int rank) const noexcept { return rank == std::max(only_, 0); }

  /// The handle of `rank` on its group over these axes; all ranks may call it at once. Axes of one rank make no difference.
  group& of(axes over, int rank) { return of(over, rank, false); }

  /// Another handle on the same ranks, for calls that another thread makes meanwhile (lane).
  group& of_lane(axes over, int rank) { return of(over, rank, true); }

  /// For all groups of a rank, those made later too. To be called by its thread.
  void set_deadline(int rank, std::chrono::milliseconds deadline);

  /// Between runs: every wait ends after `deadline`; counts and what nobody received are forgotten.
  void begin_run(std::chrono::milliseconds deadline);

 private:
  static constexpr int first_of_lanes = 16;

  group& of(axes over, int rank, bool lane);
  std::vector<std::unique_ptr<group>> made(std::string const& name, axes over, int number) const;

  redco::mesh mesh_;
  make_group make_;
  int only_;
  std::mutex mutex_;
  std::vector<std::chrono::milliseconds> deadlines_;                   ///< by rank
  std::map<std::string, std::vector<std::unique_ptr<group>>> groups_;  ///< handles by name and rank
};

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/rank_groups.inl.hpp>
#endif
