#pragma once

#include <redco/fact/activation_fact.hpp>
#include <redco/shape/ring_bytes.hpp>

#include <cstdint>
#include <string_view>

namespace redco {

/// Bytes that one rank of a ring sends for one call.
constexpr std::int64_t ring_bytes(collective what, std::int64_t payload, int ranks) {
  switch (what) {
    case collective::all_reduce: return all_reduce_ring_bytes(payload, ranks);
    case collective::all_gather:
    case collective::reduce_scatter:
    case collective::all_to_all: return gather_ring_bytes(payload, ranks);
    case collective::broadcast: return payload;
  }
  return 0;
}

constexpr std::string_view name_of(collective what) {
  constexpr std::string_view names[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"};
  return names[static_cast<std::size_t>(what)];
}

/// The messages of one purpose that one rank takes part in during a step. A group of one rank sends none.
struct message_total {
  std::string_view purpose;
  std::string_view group;  ///< "tp", "dp" or "world"
  collective what = collective::all_reduce;
  int ranks = 1;
  std::int64_t calls = 0;
  std::int64_t payload_bytes = 0;  ///< of whole values, over all calls
  std::int64_t wire_bytes = 0;     ///< sent by this rank if rings are used

  constexpr void add(std::int64_t times, std::int64_t payload) {
    if (ranks == 1) return;
    calls += times;
    payload_bytes += times * payload;
    wire_bytes += times * ring_bytes(what, payload, ranks);
  }

  friend constexpr bool operator==(message_total const&, message_total const&) = default;
};

}  // namespace redco
