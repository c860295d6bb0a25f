#include "mlp.hpp"

#include <redco/run/failure_history.hpp>

#include <stdexcept>
#include <string>

namespace failure_history_test {

using run_test::behaviour;
using run_test::fit_mlp;
using run_test::in;
using run_test::mlp_options;
using run_test::outcome;

TEST_CASE("a run that fails at the same step again and again is told so, until a run is done") {
  temporary_folder folder;
  mlp_options o;
  o.global_batch = 4;
  o.save_every_steps = 1;
  redco::deployer_options where = in(folder.path, {.dp = 2});
  where.resume = "auto";
  behaviour broken;
  broken.loss = [](at::Tensor const& each, run_test::mlp_batch const&) {
    if (redco::run_place::here().step == 2) throw std::runtime_error("the third is broken");
    return each.sum();
  };
  auto const told = [](outcome const& run) { return run.log.find("runs here failed at step 3") != std::string::npos; };
  for (int i = 0; i < 2; ++i) {
    outcome const run = fit_mlp(where, o, 13, broken);
    CHECK(run.code == 70);
    CHECK_FALSE(told(run));
  }
  outcome const third = fit_mlp(where, o, 13, broken);
  CHECK(third.code == 70);
  CHECK(third.warnings == 1);
  CHECK(third.log.find("the last 2 runs here failed at step 3, the last with: rank ") != std::string::npos);
  CHECK(third.log.find("the third is broken") != std::string::npos);
  outcome const mended = fit_mlp(where, o);
  CHECK(mended.code == 0);
  CHECK(mended.log.find("the last 3 runs") != std::string::npos);
  CHECK_FALSE(told(fit_mlp(where, o)));
}

TEST_CASE("only failures of the same step in a row count") {
  temporary_folder folder;
  redco::failure_history const history(folder.path);
  CHECK(history.repeated().empty());
  history.add(3, "first\nwith a second line");
  history.add(7, "other");
  CHECK(history.repeated().empty());
  history.add(7, "again");
  CHECK(history.repeated().find("the last 2 runs here failed at step 7, the last with: again") != std::string::npos);
  history.add(8, "further");
  CHECK(history.repeated().empty());
  history.clear();
  history.add(8, "further");
  CHECK(history.repeated().empty());
}

}  // namespace failure_history_test
