#pragma once

namespace redco {

/// The distribution of one group's members over hosts, from the view of one host.
struct host_share {
  int members = 1;  ///< Number of members of the group
  int hosts = 1;    ///< Number of hosts that have members
  int here = 1;     ///< Number of members on this host; 0: none

  friend constexpr bool operator==(host_share const&, host_share const&) = default;
};

}  // namespace redco
