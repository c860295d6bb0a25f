#include "catch.hpp"

#include <redco/workdir/best_metrics.hpp>

#include <cmath>
#include <string>
#include <vector>

TEST_CASE("the best of a metric is its smallest or its largest value, and only a better one is named") {
  using names = std::vector<std::string>;
  redco::workdir::best_metrics best({"loss"}, {"accuracy"});
  auto const evaluated = [&](double loss, double accuracy, std::int64_t step) {
    return best.update({{"loss", loss}, {"accuracy", accuracy}}, step);
  };
  CHECK(evaluated(3, 0.5, 1) == names{"min_loss", "max_accuracy"});
  CHECK(evaluated(2, 0.25, 2) == names{"min_loss"});
  CHECK(evaluated(4, 0.75, 3) == names{"max_accuracy"});
  CHECK(best.stale() == 1);
  CHECK(evaluated(2, 0.75, 4).empty());
  CHECK(evaluated(std::nan(""), HUGE_VAL, 5).empty());
  CHECK(best.stale() == 3);
  CHECK(best.best().at("min_loss").value == 2);
  CHECK(best.best().at("min_loss").step == 2);
  CHECK(best.best().at("max_accuracy").value == 0.75);
  CHECK(best.best().at("max_accuracy").step == 3);
}

TEST_CASE("evaluations without improvement are counted on from a checkpoint with the same metric") {
  using redco::workdir::best_metrics;
  best_metrics::table const known = {{"min_loss", {2, 1}}, {"max_accuracy", {0.5, 1}}};
  best_metrics again({"loss"}, {"accuracy"}, known, {"min_loss", 3});
  CHECK(again.stale() == 3);
  again.update({{"loss", 2.5}, {"accuracy", 1}}, 9);
  CHECK(again.stale() == 4);
  CHECK(again.patience().metric == "min_loss");
  CHECK(again.patience().stale == 4);
  CHECK(best_metrics({}, {"accuracy"}, known, {"min_loss", 3}).stale() == 0);
  // The workdir lacks its checkpoint
  CHECK(best_metrics({"loss"}, {}, {}, {"min_loss", 3}).stale() == 0);
  CHECK(best_metrics({}, {}, {}, {"", 3}).stale() == 0);
}

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
