#include "catch.hpp"

#include <redco/shape/hosts.hpp>

#include <cstddef>
#include <vector>

namespace hosts_test {

using redco::shape::axes, redco::shape::axis, redco::mesh;

/// Compares a group over these axes with an enumeration of its ranks.
void check_group(redco::shape::host_map const& map, axes over, axes others, int rank) {
  int const ranks = map.mesh.ranks(), each = ranks / map.hosts;
  std::vector<int> on_host(static_cast<std::size_t>(map.hosts));
  int members = 0;
  for (int other = 0; other < ranks; ++other) {
    REQUIRE(map.members_below(rank, over, other) == members);
    if (map.mesh.coordinate(other, others) != map.mesh.coordinate(rank, others)) continue;
    ++members;
    ++on_host[static_cast<std::size_t>(other / each)];
  }
  REQUIRE(map.members_below(rank, over, ranks) == members);
  int touched = 0;
  for (int host = 0; host < map.hosts; ++host) {
    REQUIRE(map.members_on(host, rank, over) == on_host[static_cast<std::size_t>(host)]);
    touched += on_host[static_cast<std::size_t>(host)] > 0 ? 1 : 0;
  }
  int const own = on_host[static_cast<std::size_t>(rank / each)];
  REQUIRE(map.share(rank, over) == redco::shape::host_share{members, touched, own});
}

TEST_CASE("the hosts of every group equal those of a count of its members one by one") {
  int maps = 0;
  for (mesh const& on : {mesh{.dp = 3, .tp = 2}, mesh{.dp = 5}, mesh{.pp = 2, .dp = 3, .ep = 2, .tp = 1},
                         mesh{.pp = 3, .ep = 2, .tp = 2}, mesh{.pp = 2, .dp = 3, .tp = 3}, mesh{.dp = 5, .tp = 3}})
    for (int hosts = 1; hosts <= on.ranks(); ++hosts) {
      if (on.ranks() % hosts != 0) continue;
      ++maps;
      CAPTURE(on.pp, on.dp, on.ep, on.tp, hosts);
      for (unsigned bits = 0; bits < 16; ++bits) {
        axes over, others;
        for (axis const a : redco::shape::all_axes) {
          if ((bits >> static_cast<unsigned>(a) & 1U) != 0) over = over | a;
          else others = others | a;
        }
        for (int rank = 0; rank < on.ranks(); ++rank) check_group({on, hosts}, over, others, rank);
      }
    }
  CHECK(maps == 4 + 2 + 6 + 6 + 6 + 4);
}

}  // namespace hosts_test
