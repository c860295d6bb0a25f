#pragma once

#include <redco/shape/collective.hpp>
#include <redco/shape/ring_bytes.hpp>

#include <array>
#include <cstdint>

namespace redco {

/// What one rank asks of one group, per kind of collective: planned for a step, or counted since the group's start (or
/// the last reset).
///
/// `payload_bytes` is the size of the unsharded value that a call is about: the tensor of all_reduce, broadcast, send and recv,
/// the input of reduce_scatter and all_to_all, the result of all_gather. `wire_bytes` is what this rank would send in
/// the usual ring algorithm, whatever the implementation really does. With n ranks and a payload of B bytes:
///
///     all_reduce      ceil(2 (n - 1) B / n)
///     all_gather, reduce_scatter, all_to_all   (n - 1) B / n, always an integer
///     broadcast       B, and 0 for the rank before the root, the last of the ring
///     send            B
///     recv, barrier   0
///
/// `host_bytes` is what this rank really sent to other processes, for all members of the group in its process, without the few bytes
/// in which they agree on a call: where elements are many, those of shape/host_bytes.hpp. Groups of one rank count nothing.
struct traffic {
  struct entry {
    std::int64_t calls = 0;
    std::int64_t payload_bytes = 0;
    std::int64_t wire_bytes = 0;
    std::int64_t host_bytes = 0;

    constexpr entry& operator+=(entry const& more) {
      calls += more.calls;
      payload_bytes += more.payload_bytes;
      wire_bytes += more.wire_bytes;
      host_bytes += more.host_bytes;
      return *this;
    }

    friend constexpr bool operator==(entry const&, entry const&) = default;
  };

  std::array<entry, collectives> kinds{};

  constexpr entry const& operator[](collective kind) const { return kinds[static_cast<std::size_t>(kind)]; }
  constexpr entry& operator[](collective kind) { return kinds[static_cast<std::size_t>(kind)]; }

  /// The sum over all kinds.
  constexpr entry total() const {
    entry sum;
    for (entry const& one : kinds) sum += one;
    return sum;
  }

  /// Bytes that rank `rank` of `size` would send for one call of `kind` over `payload` bytes; `root` is read by
  /// broadcast.
  static constexpr std::int64_t wire(collective kind, std::int64_t payload, int rank, int size, int root = 0) {
    bool const ends_the_ring = kind == collective::broadcast && (rank + 1) % size == root;
    return ends_the_ring ? 0 : ring_bytes(kind, payload, size);
  }

  friend constexpr bool operator==(traffic const&, traffic const&) = default;
};

}  // namespace redco
