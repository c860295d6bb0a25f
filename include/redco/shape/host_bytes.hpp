#pragma once

#include <redco/shape/collective.hpp>
#include <redco/shape/host_share.hpp>
#include <redco/shape/ring_bytes.hpp>

#include <cstdint>

namespace redco::shape {

/// Returns the bytes that one host sends to other hosts for one call of a group. The host combines
/// the data of its members in shared memory and exchanges them once. B is `payload`; n members are
/// on h hosts, k of them on this host:
/// - all_reduce: ceil(2 (h - 1) B / h), a ring of hosts; all_gather: (h - 1) k B / n
/// - reduce_scatter: (n - k) B / n, sums for parts of other hosts; all_to_all: k (n - k) B / n
/// - broadcast or send from this host: (h - 1) B and B, or 0 if `sends` is false; recv and barrier:
///   0
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

}  // namespace redco::shape
