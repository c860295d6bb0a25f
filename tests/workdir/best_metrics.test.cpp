#include "catch.hpp"

#include <redco/workdir/best_metrics.hpp>

#include <cmath>
#include <string>
#include <vector>

TEST_CASE("the best of a metric is its smallest or its largest, and only a better one is named") {
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
