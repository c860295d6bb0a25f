#pragma once

namespace redco::shape {

/// The distribution of one group of ranks over hosts, from the view of one host.
struct host_share {
  int members = 1;  ///< Number of ranks of the group
  int hosts = 1;    ///< Number of hosts that have ranks of the group
  int here = 1;     ///< Number of ranks of the group on this host; 0: none

  friend constexpr bool operator==(host_share const&, host_share const&) = default;
};

}  // namespace redco::shape
