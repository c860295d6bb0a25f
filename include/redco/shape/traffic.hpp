#pragma once

#include <redco/shape/collective.hpp>

#include <array>
#include <cstdint>

namespace redco::shape {

/// The communication of one rank in one group, for each kind of call: planned for a step, or
/// counted since the group's start or last reset. All counts are 0 in a group of one rank.
///
/// `payload_bytes` is the size of the complete value: the tensor, the input of reduce_scatter and
/// all_to_all, or the result of all_gather. `wire_bytes` is what this rank would send in a ring
/// algorithm. `host_bytes` is what this process really sends to other processes for all its ranks
/// in the group.
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

  /// Returns the sum of calls and bytes over all kinds of call.
  constexpr entry total() const {
    entry sum;
    for (entry const& one : kinds) sum += one;
    return sum;
  }

  /// Returns the bytes that rank `rank` of a group of `size` ranks sends in one ring call of this
  /// kind with `payload` bytes. `root`, the sender, is used by broadcast only: the rank before it
  /// is the last in the ring and sends nothing.
  static constexpr std::int64_t wire(collective kind, std::int64_t payload, int rank, int size, int root = 0) {
    bool const ends_the_ring = kind == collective::broadcast && (rank + 1) % size == root;
    return ends_the_ring ? 0 : ring_bytes(kind, payload, size);
  }

  friend constexpr bool operator==(traffic const&, traffic const&) = default;
};

}  // namespace redco::shape
