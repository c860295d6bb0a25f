#include "catch.hpp"

#include <redco/options/value_text.hpp>

#include <redco/diag/error.hpp>

using redco::mesh;
using redco::options::parse_mesh, redco::options::to_text;

TEST_CASE("a mesh is written as replicas times shards, or by the names of its axes") {
  CHECK(parse_mesh("2x3") == mesh{.dp = 2, .tp = 3});
  CHECK(parse_mesh("pp=2,dp=2,tp=3") == mesh{.pp = 2, .dp = 2, .tp = 3});
  CHECK(parse_mesh("tp=3,dp=2") == mesh{.dp = 2, .tp = 3});
  CHECK(parse_mesh("ep=4") == mesh{.ep = 4});
  CHECK(to_text({.dp = 2, .tp = 3}) == "2x3");
  CHECK(to_text({.pp = 2, .dp = 2, .tp = 3}) == "pp=2,dp=2,tp=3");
  for (int pp = 1; pp < 3; ++pp)
    for (int dp = 1; dp < 3; ++dp)
      for (int ep = 1; ep < 3; ++ep)
        for (int tp = 1; tp < 3; ++tp) {
          mesh const m{.pp = pp, .dp = dp, .ep = ep, .tp = tp};
          CHECK(parse_mesh(to_text(m)) == m);
        }
}

TEST_CASE("text that is not a mesh is refused with both formats") {
  for (char const* text : {"", "2", "0x2", "2x2x2", "dp=0", "dp=-1", "dp=+1", "dp=", "dp", "mp=2", "dp=2,", ",dp=2",
                           "dp=2,dp=2", "dp=2x2", "dp=2 ,tp=2", "dp=2;tp=2", "dp=99999999999"}) {
    INFO(text);
    try {
      parse_mesh(text);
      FAIL("accepted");
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::usage);
      CHECK(std::string(e.what()) ==
            "'" + std::string(text) +
                "' is not a mesh; write DPxTP, replicas times shards, each at least 1: 1x2 is one model cut into two "
                "shards; or name axes: dp=2,ep=2,tp=2");
    }
  }
}
