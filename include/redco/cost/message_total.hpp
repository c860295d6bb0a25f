#pragma once

#include <redco/cost/host_load.hpp>

#include <redco/shape/axis.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/ring_bytes.hpp>
#include <redco/shape/traffic.hpp>

#include <cstdint>
#include <string_view>

namespace redco::cost {

/// The messages of one purpose that one rank takes part in during a step; a group of one rank has none. What one rank sends counts
/// a ring of all ranks of the group (traffic), wherever they lie; `host_bytes` is what the busiest host sends to others, for all of its
/// groups.
struct message_total : traffic::entry {
  std::string_view purpose;
  axes over = axis::tp;  ///< along which the group lies
  collective what = collective::all_reduce;
  int ranks = 1;
  int hosts = 1;                  ///< the most that one of the groups lies on
  int here = 1;                   ///< the most ranks that one of the groups has on a host
  std::int64_t inside_bytes = 0;  ///< of a rank, in rings of the ranks that its groups have on its host

  /// Requires more than one rank. `on`: how the groups lie on hosts.
  constexpr void add(std::int64_t times, std::int64_t payload, host_load const& on) {
    *this += {times, times * payload, times * ring_bytes(what, payload, ranks), times * on.bytes(what, payload)};
    hosts = on.hosts();
    here = on.here();
    if (here > 1) inside_bytes += times * ring_bytes(what, payload, here);
  }

  friend constexpr bool operator==(message_total const&, message_total const&) = default;
};

}  // namespace redco::cost
