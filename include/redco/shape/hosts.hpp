#pragma once

#include <redco/shape/axis.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/mesh.hpp>

#include <cstdint>

namespace redco::shape {

/// The distribution of one group of ranks over hosts, from the view of one host.
struct host_share {
  int members = 1;  ///< Number of ranks of the group
  int hosts = 1;    ///< Number of hosts that have ranks of the group
  int here = 1;     ///< Number of ranks of the group on this host; 0: none

  friend constexpr bool operator==(host_share const&, host_share const&) = default;
};

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
      int const coordinate = end / stride;
      end %= stride;
      if (over.has(a)) {
        inner /= mesh[a];
        count += coordinate * inner;
      } else if (int const own = rank / stride % mesh[a]; own != coordinate) {
        return own < coordinate ? count + inner : count;
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

/// Returns the bytes that one host sends to other hosts for one call of a group. The host combines
/// the data of its members in shared memory and exchanges them once. B is `payload`; n members are
/// on h hosts, k of them on this host:
/// - all_reduce: ceil(2 (h - 1) B / h), a ring of hosts; all_gather: (h - 1) k B / n
/// - reduce_scatter: (n - k) B / n, sums for parts of other hosts; all_to_all: k (n - k) B / n
/// - broadcast or send from this host: (h - 1) B and B, or 0 if `sends` is false; recv and barrier:
///   0
constexpr std::int64_t host_bytes(collective kind, std::int64_t payload, host_share const& on, bool sends = true) {
  if (on.here == 0) return 0;
  std::int64_t const part = payload / on.members, elsewhere = on.members - on.here;
  switch (kind) {
    case collective::all_reduce: return all_reduce_ring_bytes(payload, on.hosts);
    case collective::all_gather: return (on.hosts - 1) * on.here * part;
    case collective::reduce_scatter: return elsewhere * part;
    case collective::all_to_all: return on.here * elsewhere * part;
    case collective::broadcast: return sends ? (on.hosts - 1) * payload : 0;
    case collective::send: return sends ? payload : 0;
    case collective::recv:
    case collective::barrier: return 0;
  }
  return 0;
}

}  // namespace redco::shape
