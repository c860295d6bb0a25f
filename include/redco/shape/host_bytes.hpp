#pragma once

#include <redco/shape/collective.hpp>
#include <redco/shape/host_share.hpp>
#include <redco/shape/ring_bytes.hpp>

#include <cstdint>

namespace redco {

/// Bytes that one host sends to other hosts for one call of one group. The members of a host join what they have in shared
/// memory, hosts exchange it once, and each spreads it among its members. With B bytes of payload (traffic says of what) and n
/// members on h hosts, of which this one has k:
///
///     all_reduce      ceil(2 (h - 1) B / h)    a ring of hosts
///     all_gather      (h - 1) k B / n          the parts of its members, to each other host
///     reduce_scatter  (n - k) B / n            one partial sum of each part that belongs to another host
///     all_to_all      k (n - k) B / n          a piece of each of its members for each member elsewhere
///     broadcast       (h - 1) B                from the host of the root
///     send            B
///     recv, barrier   0
///
/// `sends` is read by broadcast and send: whether the root is on this host, and whether the peer is on another one. Where each
/// host has one member these are the bytes of a ring of ranks, but for the broadcast, which leaves the root's host h - 1 times.
/// A host without members sends nothing.
constexpr std::int64_t host_bytes(collective what, std::int64_t payload, host_share const& on, bool sends = true) {
  if (on.here == 0) return 0;
  std::int64_t const part = payload / on.members, elsewhere = on.members - on.here;
  switch (what) {
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

}  // namespace redco
