#pragma once

#include <redco/comm/collective_kind.hpp>

#include <redco/shape/ring_bytes.hpp>

#include <array>
#include <cstdint>

namespace redco {

/// What one rank asked of one group since its start (or since the last reset), per kind of collective.
///
/// `payload_bytes` is the size of the whole value a call is about: the tensor of all_reduce, broadcast, send and recv,
/// the input of reduce_scatter and all_to_all, the result of all_gather. `wire_bytes` is what this rank would send in
/// the usual ring algorithm, whatever the implementation really does. With n ranks and a payload of B bytes:
///
///     all_reduce      ceil(2 (n - 1) B / n)
///     all_gather, reduce_scatter, all_to_all   (n - 1) B / n, always an integer
///     broadcast       B, and 0 for the rank before the root, the last of the ring
///     send            B
///     recv, barrier   0
///
/// Groups of one rank count nothing.
struct traffic {
  struct entry {
    std::int64_t calls = 0;
    std::int64_t payload_bytes = 0;
    std::int64_t wire_bytes = 0;

    friend constexpr bool operator==(entry const&, entry const&) = default;
  };

  std::array<entry, collective_kinds> kinds{};

  constexpr entry const& operator[](collective_kind kind) const { return kinds[static_cast<std::size_t>(kind)]; }
  constexpr entry& operator[](collective_kind kind) { return kinds[static_cast<std::size_t>(kind)]; }

  /// The sum over all kinds.
  constexpr entry total() const {
    entry sum;
    for (entry const& one : kinds) {
      sum.calls += one.calls;
      sum.payload_bytes += one.payload_bytes;
      sum.wire_bytes += one.wire_bytes;
    }
    return sum;
  }

  /// Bytes that rank `rank` of `size` would send for one call of `kind` over `payload` bytes; `root` is read by
  /// broadcast.
  static constexpr std::int64_t wire(collective_kind kind, std::int64_t payload, int rank, int size, int root = 0) {
    switch (kind) {
      case collective_kind::all_reduce: return all_reduce_ring_bytes(payload, size);
      case collective_kind::all_gather:
      case collective_kind::reduce_scatter:
      case collective_kind::all_to_all: return gather_ring_bytes(payload, size);
      case collective_kind::broadcast: return (rank + 1) % size == root ? 0 : payload;
      case collective_kind::send: return payload;
      case collective_kind::recv:
      case collective_kind::barrier: return 0;
    }
    return 0;
  }

  friend constexpr bool operator==(traffic const&, traffic const&) = default;
};

}  // namespace redco
