#include "catch.hpp"

#include <redco/workdir/best_metrics.hpp>

#include <string>

TEST_CASE("a best value is found by its checkpoint's name or its metric's, and an unknown name lists the known ones") {
  redco::workdir::best_values const best(
      {{"min_loss", {2, 10}}, {"max_balanced", {0.75, 20}}, {"min_gap", {1, 3}}, {"max_gap", {5, 4}}});
  CHECK(best.at("max_balanced").value == 0.75);
  CHECK(best.at("balanced").step == 20);
  CHECK(best.at("loss").step == 10);
  CHECK(best.at("max_gap").value == 5);
  for (char const* const name : {"gap", "accuracy", "min_balanced"}) {
    try {
      best.at(name);
      FAIL("found " << name);
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::internal);
      CHECK(std::string(e.what()).find("max_balanced, max_gap, min_gap, min_loss") != std::string::npos);
    }
  }
  CHECK_THROWS_AS(redco::workdir::best_values().at("loss"), redco::error);
}
