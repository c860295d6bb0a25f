#include "catch.hpp"

#include <redco/options/deployer_options.hpp>

#include <redco/diag/error.hpp>

#include <utility>

TEST_CASE("ranks form replicas of the requested number of shards or are refused") {
  CHECK(redco::options::mesh_of(6, 3) == redco::mesh{.dp = 2, .tp = 3});
  CHECK(redco::options::mesh_of(5, 1) == redco::mesh{.dp = 5});
  for (auto const& [ranks, shards] : {std::pair{6, 4}, {3, 6}, {0, 1}, {-2, 1}, {2, 0}, {2, -1}}) {
    INFO(ranks << " ranks, " << shards << " shards");
    try {
      redco::options::mesh_of(ranks, shards);
      FAIL("accepted");
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::usage);
    }
  }
}
