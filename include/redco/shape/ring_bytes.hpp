#pragma once

#include <redco/shape/collective.hpp>

#include <cstdint>

namespace redco {

/// Bytes that one of `ranks` ranks sends when an all-reduce of `payload` bytes runs as a ring (Patarasuk and Yuan 2009):
/// a reduce-scatter and an all-gather, 2 (n - 1) / n of the payload, rounded up.
constexpr std::int64_t all_reduce_ring_bytes(std::int64_t payload, int ranks) {
  return 2 * payload - 2 * payload / ranks;
}

/// The same for all_gather, reduce_scatter and all_to_all, whose payload is the unsharded value: (n - 1) / n of it.
constexpr std::int64_t gather_ring_bytes(std::int64_t payload, int ranks) { return payload / ranks * (ranks - 1); }

/// The same for one call of any kind; for a broadcast and for point-to-point calls, of a rank that sends.
constexpr std::int64_t ring_bytes(collective what, std::int64_t payload, int ranks) {
  switch (what) {
    case collective::all_reduce: return all_reduce_ring_bytes(payload, ranks);
    case collective::all_gather:
    case collective::reduce_scatter:
    case collective::all_to_all: return gather_ring_bytes(payload, ranks);
    case collective::broadcast:
    case collective::send: return payload;
    case collective::recv:
    case collective::barrier: return 0;
  }
  return 0;
}

}  // namespace redco
