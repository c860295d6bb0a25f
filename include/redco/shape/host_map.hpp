#pragma once

#include <redco/shape/axis.hpp>
#include <redco/shape/host_share.hpp>
#include <redco/shape/mesh.hpp>

namespace redco::shape {

/// A map of the ranks of a mesh to hosts: each of `hosts` hosts has equally many consecutive ranks.
/// `hosts` must divide the number of ranks. For example, ranks 2 and 3 form a tp group on two
/// hosts:
///
/// host_map{{.dp = 3, .tp = 2}, 2}.share(2, axis::tp)  // {.members = 2, .hosts = 2, .here = 1}
struct host_map {
  redco::mesh mesh = {};
  int hosts = 1;

  constexpr int ranks_of_host() const { return mesh.ranks() / hosts; }
  constexpr int host_of(int rank) const { return rank / ranks_of_host(); }
  constexpr int first_of(int host) const { return host * ranks_of_host(); }

  /// Returns the number of ranks below `end` in the group of `rank` over the mesh axes `over`.
  /// `end` is at most the number of ranks of the mesh.
  constexpr int members_below(int rank, axes over, int end) const {
    int count = 0, stride = mesh.ranks(), inner = mesh.size(over);
    for (axis const a : all_axes) {
      stride /= mesh[a];
      int const place = end / stride;
      end %= stride;
      if (over.has(a)) {
        inner /= mesh[a];
        count += place * inner;
      } else if (int const own = rank / stride % mesh[a]; own != place) {
        return own < place ? count + inner : count;
      }
    }
    return count;
  }

  /// Returns the number of ranks on `host` in the group of `rank` over the mesh axes `over`.
  constexpr int members_on(int host, int rank, axes over) const {
    return members_below(rank, over, first_of(host + 1)) - members_below(rank, over, first_of(host));
  }

  /// Returns true if some group of ranks over the mesh axes `over` has ranks on more than one host.
  constexpr bool parts(axes over) const {
    for (int rank = 0; rank < mesh.ranks(); ++rank)
      if (share(rank, over).hosts > 1) return true;
    return false;
  }

  /// Returns how many hosts the group of `rank` over the mesh axes `over` has, and how many of its
  /// ranks are on the host of `rank`.
  constexpr host_share share(int rank, axes over) const {
    host_share s{mesh.size(over), 0, members_on(host_of(rank), rank, over)};
    for (int host = 0; host < hosts; ++host)
      if (members_on(host, rank, over) > 0) ++s.hosts;
    return s;
  }
};

}  // namespace redco::shape
