#pragma once

#include <redco/cost/host_load.hpp>

#include <redco/shape/axis.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/ring_bytes.hpp>
#include <redco/shape/traffic.hpp>

#include <cstdint>
#include <string_view>

namespace redco::cost {

/// The messages of one purpose (such as gradient sums) that one rank sends in one step. Groups of
/// one rank send none. `wire_bytes` assumes a ring over all ranks of the group. `host_bytes` are
/// the bytes that the busiest host sends to other hosts for all its groups.
struct message_total : shape::traffic::entry {
  std::string_view purpose;
  shape::axes over = shape::axis::tp;  ///< Mesh axes over which the group extends
  shape::collective what = shape::collective::all_reduce;
  int ranks = 1;
  int hosts = 1;  ///< Largest number of hosts over which one group spreads
  int here = 1;   ///< Largest number of ranks of one group on one host
  /// Bytes that a rank sends to ranks on its own host, in rings of the group's ranks on this host.
  std::int64_t inside_bytes = 0;

  /// Adds `times` calls with `payload` bytes each. Requires a group of more than one rank. `on`
  /// describes how the groups spread over hosts.
  constexpr void add(std::int64_t times, std::int64_t payload, host_load const& on) {
    *this += {times, times * payload, times * shape::ring_bytes(what, payload, ranks), times * on.bytes(what, payload)};
    hosts = on.hosts();
    here = on.here();
    if (here > 1) inside_bytes += times * shape::ring_bytes(what, payload, here);
  }

  friend constexpr bool operator==(message_total const&, message_total const&) = default;
};

}  // namespace redco::cost
