#include "torch_catch.hpp"

#include <redco/comm/machines.hpp>
#include <redco/comm/rank_hosts.hpp>
#include <redco/shape/mesh.hpp>

#include <string>
#include <vector>

namespace machines_test {

int machines(std::vector<std::string> const& of_process, redco::mesh const& on) {
  redco::comm::rank_hosts::all().of_process = of_process;
  auto const found = redco::comm::machines_of(on);
  redco::comm::rank_hosts::all().of_process.clear();
  CHECK(found.mesh == on);
  return found.hosts;
}

TEST_CASE("consecutive processes with one host name are on one machine") {
  constexpr redco::mesh four{.pp = 2, .dp = 1, .tp = 2}, twelve{.pp = 3, .dp = 2, .tp = 2};
  CHECK(machines({}, four) == 1);
  CHECK(machines({"a", "a"}, four) == 1);
  CHECK(machines({"a", "b"}, four) == 2);
  CHECK(machines({"a", "a", "b", "b"}, four) == 2);
  CHECK(machines({"a", "b", "c", "d"}, four) == 4);
  CHECK(machines({"a", "a", "b", "b", "c", "c"}, twelve) == 3);
}

TEST_CASE("machines with unequal or scattered processes count as one machine") {
  constexpr redco::mesh twelve{.pp = 3, .dp = 2, .tp = 2};
  CHECK(machines({"a", "a", "b"}, twelve) == 1);
  CHECK(machines({"a", "b", "b"}, twelve) == 1);
  CHECK(machines({"a", "b", "a", "b"}, twelve) == 1);
  CHECK(machines({"a", "b", "b", "c"}, twelve) == 1);
  CHECK(machines({"a", "a", "b", "a"}, twelve) == 1);
  // A mesh of fewer ranks than processes runs in one process.
  CHECK(machines({"a", "b"}, {.dp = 1}) == 1);
}

}  // namespace machines_test
