#pragma once

#include <redco/comm/rank_context.hpp>

#include <redco/shape/mesh.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <utility>

namespace redco::comm {

REDCO_INLINE rank_groups::rank_groups(redco::mesh const& shape, int first, int ranks_here, make_group make)
    : mesh_(shape),
      first_(first),
      ranks_here_(ranks_here),
      make_(std::move(make)),
      deadlines_(static_cast<std::size_t>(shape.ranks())) {}

REDCO_INLINE group& rank_groups::of(shape::axes over, int rank, bool lane) {
  std::string const name = shape::group_name(mesh_, over) + (lane ? name_of_lanes : "");
  std::lock_guard const lock(mutex_);
  auto found = groups_.find(name);
  if (found == groups_.end()) found = groups_.emplace(name, made(name, over, lane ? first_of_lanes : 0)).first;
  return *found->second[static_cast<std::size_t>(rank)];
}

REDCO_INLINE void rank_groups::each(int rank, std::function<void(std::string const& name, group&)> const& visit) {
  std::lock_guard const lock(mutex_);
  for (auto const& [name, handles] : groups_)
    if (!name.ends_with(name_of_lanes)) visit(name, *handles[static_cast<std::size_t>(rank)]);
}

REDCO_INLINE void rank_groups::set_deadline(int rank, std::chrono::milliseconds deadline) {
  auto const at = static_cast<std::size_t>(rank);
  std::lock_guard const lock(mutex_);
  deadlines_[at] = deadline;
  for (auto const& [name, handles] : groups_) handles[at]->set_deadline(deadline);
}

REDCO_INLINE void rank_groups::begin_run(std::chrono::milliseconds deadline) {
  std::lock_guard const lock(mutex_);
  deadlines_.assign(deadlines_.size(), deadline);
  for (auto const& [name, handles] : groups_) {
    for (auto const& handle : handles) {
      if (!handle) continue;
      handle->set_deadline(deadline);
      handle->begin_run();
    }
  }
}

REDCO_INLINE std::vector<std::unique_ptr<group>> rank_groups::made(std::string const& name, shape::axes over,
                                                                   int number) const {
  std::vector<std::unique_ptr<group>> handles(deadlines_.size());
  shape::axes others;
  int several = 0;
  for (shape::axis const a : shape::all_axes) {
    several *= 2;
    if (!over.has(a)) others = others | a;
    else if (over != shape::every_axis && mesh_[a] > 1) ++several;
  }
  for (int line = 0; line < mesh_.size(others); ++line) {
    std::vector<int> members;
    for (int rank = 0; rank < mesh_.ranks(); ++rank)
      if (mesh_.coordinate(rank, others) == line) members.push_back(rank);
    auto of_line = make_({name, number + several, line}, members);
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!of_line[i]) continue;
      auto const rank = static_cast<std::size_t>(members[i]);
      handles[rank] = std::move(of_line[i]);
      handles[rank]->set_deadline(deadlines_[rank]);
    }
  }
  return handles;
}

}  // namespace redco::comm
