#pragma once

#include <redco/shape/collective.hpp>
#include <redco/shape/host_share.hpp>
#include <redco/shape/ring_bytes.hpp>

#include <cstdint>

namespace redco {

/// Returns the bytes that one host sends to other hosts for one call of a group. A host combines
/// its members' data in shared memory and exchanges it once. B is `payload`; the group has n
/// members on h hosts, k of them on this host:
/// - all_reduce: ceil(2 (h - 1) B / h), a ring of hosts; all_gather: (h - 1) k B / n
/// - reduce_scatter: (n - k) B / n, partial sums of remote parts; all_to_all: k (n - k) B / n
/// - broadcast from this host: (h - 1) B; send to another host: B; recv and barrier: 0
///
/// If `sends` is false, broadcast and send count 0 bytes.
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
