#pragma once

#include <redco/cost/host_load.hpp>

#include <redco/shape/axis.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/ring_bytes.hpp>
#include <redco/shape/traffic.hpp>

#include <cstdint>
#include <string_view>

namespace redco::cost {

/// Messages of one purpose in which one rank takes part during a step. Groups of one rank send
/// none. The bytes that a rank sends are those of a ring over all ranks of the group (`traffic`).
/// `host_bytes` is the number of bytes that the busiest host sends to other hosts for all its
/// groups.
struct message_total : traffic::entry {
  std::string_view purpose;
  axes over = axis::tp;  ///< axes along which the group extends
  collective what = collective::all_reduce;
  int ranks = 1;
  int hosts = 1;  ///< maximum number of hosts that one group spans
  int here = 1;   ///< maximum number of ranks of one group on a host
  /// Bytes that a rank sends in rings of the ranks of its groups on its host.
  std::int64_t inside_bytes = 0;

  /// Adds `times` calls of `payload` bytes. Requires more than one rank. `on` is the distribution
  /// of the groups over hosts.
  constexpr void add(std::int64_t times, std::int64_t payload, host_load const& on) {
    *this += {times, times * payload, times * ring_bytes(what, payload, ranks), times * on.bytes(what, payload)};
    hosts = on.hosts();
    here = on.here();
    if (here > 1) inside_bytes += times * ring_bytes(what, payload, here);
  }

  friend constexpr bool operator==(message_total const&, message_total const&) = default;
};

}  // namespace redco::cost
