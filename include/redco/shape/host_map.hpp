#pragma once

#include <redco/shape/axis.hpp>
#include <redco/shape/host_share.hpp>
#include <redco/shape/mesh.hpp>

namespace redco {

/// A map of mesh ranks to hosts: each of `hosts` hosts has equally many consecutive ranks, host 0
/// the first. `hosts` must divide the number of ranks. The group of ranks 2 and 3, on two hosts:
///
///   host_map{{.dp = 3, .tp = 2}, 2}.share(2, axis::tp)  // {.members = 2, .hosts = 2, .here = 1}
struct host_map {
  redco::mesh mesh = {};
  int hosts = 1;

  constexpr int ranks_of_host() const { return mesh.ranks() / hosts; }
  constexpr int host_of(int rank) const { return rank / ranks_of_host(); }
  constexpr int first_of(int host) const { return host * ranks_of_host(); }

  /// Returns the number of members of `rank`'s group over these axes whose ranks are below `end`.
  /// `end` is at most the number of ranks.
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

  /// Returns the number of members of `rank`'s group over these axes that are on a host.
  constexpr int members_on(int host, int rank, axes over) const {
    return members_below(rank, over, first_of(host + 1)) - members_below(rank, over, first_of(host));
  }

  /// Returns true if some group over these axes has members on more than one host.
  constexpr bool parts(axes over) const {
    for (int rank = 0; rank < mesh.ranks(); ++rank)
      if (share(rank, over).hosts > 1) return true;
    return false;
  }

  /// Returns the distribution over hosts of `rank`'s group over these axes, from the view of the
  /// rank's host.
  constexpr host_share share(int rank, axes over) const {
    host_share s{mesh.size(over), 0, members_on(host_of(rank), rank, over)};
    for (int host = 0; host < hosts; ++host)
      if (members_on(host, rank, over) > 0) ++s.hosts;
    return s;
  }
};

}  // namespace redco
