#pragma once

namespace redco {

/// How the members of one group lie on hosts, as one of these hosts sees it.
struct host_share {
  int members = 1;  ///< of the group
  int hosts = 1;    ///< on which any of them lie
  int here = 1;     ///< of them on this host; 0: it has no part in the group

  friend constexpr bool operator==(host_share const&, host_share const&) = default;
};

}  // namespace redco
