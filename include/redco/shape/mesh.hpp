#pragma once

#include <redco/shape/axis.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace redco {

/// A grid of the ranks of a run: `mesh{.dp = 2, .tp = 4}` has 2 x 4 ranks. The members are the
/// numbers of ranks along each axis. Rank numbers count along `tp` first and along `pp` last, so
/// the shards of a replica have consecutive numbers.
struct mesh {
  /// A guard type for the first member of a mesh. With it, sizes without axis names, such as
  /// `mesh{2, 4}`, do not compile, because a reader could not see the axes.
  class by_name {
    constexpr by_name() = default;
    friend mesh;
    friend constexpr bool operator==(by_name, by_name) = default;
  };

  by_name only = {};
  int pp = 1;  ///< Number of pipeline stages
  int dp = 1;  ///< Number of data-parallel replicas, or of their groups (--zero-within)
  int ds = 1;  ///< Number of data-parallel replicas of a group that shares out state; 1: no groups
  int ep = 1;  ///< Number of expert-parallel ranks
  int cp = 1;  ///< Number of context-parallel ranks, which hold parts of the same sequences
  int tp = 1;  ///< Number of tensor-parallel shards

  constexpr int const& operator[](shape::axis a) const {
    return a == shape::axis::pp   ? pp
           : a == shape::axis::dp ? dp
           : a == shape::axis::ds ? ds
           : a == shape::axis::ep ? ep
           : a == shape::axis::cp ? cp
                                  : tp;
  }
  constexpr int& operator[](shape::axis a) {
    return a == shape::axis::pp   ? pp
           : a == shape::axis::dp ? dp
           : a == shape::axis::ds ? ds
           : a == shape::axis::ep ? ep
           : a == shape::axis::cp ? cp
                                  : tp;
  }

  /// Returns the number of ranks in a group over the mesh axes `over`; at most the largest int.
  constexpr int size(shape::axes over) const {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    std::int64_t product = 1;
    for (shape::axis const a : shape::all_axes) {
      if (over.has(a)) product *= (*this)[a];
      if (product > most) product = most;
    }
    return static_cast<int>(product);
  }
  constexpr int ranks() const { return size(shape::every_axis); }

  /// Returns the index of `rank` within its group over the mesh axes `over`. Indices follow the
  /// rank numbers.
  constexpr int coordinate(int rank, shape::axes over) const {
    int index = 0;
    int stride = ranks();
    for (shape::axis const a : shape::all_axes) {
      stride /= (*this)[a];
      if (over.has(a)) index = index * (*this)[a] + rank / stride % (*this)[a];
    }
    return index;
  }

  friend constexpr bool operator==(mesh const&, mesh const&) = default;
};

}  // namespace redco

namespace redco::shape {

/// Returns the mesh that a user gives with --mesh for the mesh `on` of a run: without groups of
/// replicas (--zero-within), so that dp counts all replicas.
constexpr mesh without_groups(mesh on) {
  on.dp *= on.ds;
  on.ds = 1;
  return on;
}

/// Returns a name for the groups of ranks over the mesh axes `over`, for messages and reports. It
/// is "world" for all axes, otherwise the axes along which the mesh has more than one rank, such as
/// "tp" or "dp+ep". On one mesh, equal names mean groups of equal ranks.
inline std::string group_name(mesh const& on, axes over) {
  if (over == every_axis) return "world";
  axes several;
  for (axis const a : all_axes)
    if (over.has(a) && on[a] > 1) several = several | a;
  return axes_text(several.empty() ? over : several);
}

}  // namespace redco::shape
