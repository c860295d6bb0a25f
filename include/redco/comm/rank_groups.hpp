#pragma once

#include <redco/comm/group.hpp>
#include <redco/comm/lifeline.hpp>

#include <redco/shape/mesh.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace redco::comm {

/// The groups of a run on threads. Each set of axes gets its groups when a rank first asks for one: ranks that lie on one line,
/// plane ... along these axes are a group.
class rank_groups {
 public:
  /// Every wait ends after `deadline` until set_deadline().
  rank_groups(mesh const& shape, std::shared_ptr<lifeline> line, std::chrono::milliseconds deadline);

  /// The handle of `rank` on its group over these axes; all ranks may call it at once. Axes of one rank make no difference.
  group& of(axes over, int rank);

  /// For all groups of a rank, those made later too. To be called by its thread.
  void set_deadline(int rank, std::chrono::milliseconds deadline);

 private:
  std::vector<std::unique_ptr<group>> made(std::string const& name, axes over) const;

  mesh mesh_;
  std::shared_ptr<lifeline> line_;
  std::mutex mutex_;
  std::vector<std::chrono::milliseconds> deadlines_;                   ///< by rank
  std::map<std::string, std::vector<std::unique_ptr<group>>> groups_;  ///< handles by name and rank
};

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/rank_groups.inl.hpp>
#endif
