#include "mlp.hpp"

#include <redco/workdir/read_manifest.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/signals.hpp>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace early_stopping_test {

using run_test::fit_mlp;
using run_test::in;
using run_test::mlp_options;
using run_test::outcome;

redco::deployer_options resumed(std::filesystem::path const& workdir) {
  redco::deployer_options o = in(workdir, {.dp = 2});
  o.resume = "auto";
  return o;
}

/// A run whose score is best after step 3 and falls at each later evaluation. Evaluations are every
/// three steps: at the ends of epochs of 3 steps, or within epochs of 30.
struct course {
  bool within_epochs;
  std::int64_t step = 0;  ///< newest update, over all runs
  int epochs_ended = 0;

  mlp_options options(std::int64_t stop_at = 0) {
    mlp_options o;
    o.epochs = 10;
    o.global_batch = 4;
    o.eval = run_test::numbers(5);
    o.eval_every_steps = within_epochs ? 3 : 0;
    o.metrics = [this](auto, auto) { return redco::options::metric_map{{"score", static_cast<double>(step)}}; };
    o.save_argmin = {"score"};
    o.sanity_check = false;
    o.patience = 4;
    o.on_step = [this, stop_at](redco::fit_event const& e) {
      step = e.step;
      if (e.step + 1 == stop_at) std::raise(SIGUSR1);  // takes effect after the next step
    };
    o.on_epoch = [this](redco::fit_event const&) { ++epochs_ended; };
    return o;
  }
  std::int64_t examples() const { return within_epochs ? 120 : 12; }
};

std::vector<std::int64_t> evaluated(std::filesystem::path const& workdir) {
  std::vector<std::int64_t> steps;
  std::istringstream lines(content_of(workdir / "metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    auto const row = redco::json::parse_json(line, "row");
    if (row.contains("eval/score")) steps.push_back(row["step"].get<std::int64_t>());
  }
  return steps;
}

/// Returns every file of a workdir by name, except its log, its page and its lock.
std::map<std::string, std::string> files_of(std::filesystem::path const& workdir) {
  std::map<std::string, std::string> all;
  for (auto const& entry : std::filesystem::recursive_directory_iterator(workdir)) {
    std::string const name = std::filesystem::relative(entry.path(), workdir).string();
    if (entry.is_regular_file() && name != "log.txt" && name != "report.html" && name != ".lock")
      all[name] = content_of(entry.path());
  }
  return all;
}

TEST_CASE("a run that is cut and resumed loses patience at the same step as the unbroken run") {
  for (bool const within : {false, true}) {
    INFO("within epochs " << within);
    temporary_folder const whole, parted;
    course unbroken{within}, broken{within};
    outcome const all = fit_mlp(resumed(whole.path), unbroken.options(), unbroken.examples());
    REQUIRE(all.code == 0);
    CHECK(all.losses.size() == 15);
    CHECK(all.log.find("stopped: no better evaluation in the last 4") != std::string::npos);
    std::vector<double> losses;
    // At 9 and 12 the stop precedes the evaluation that is due
    for (std::int64_t const stop : {7, 9, 12}) {
      outcome const part = fit_mlp(resumed(parted.path), broken.options(stop), broken.examples());
      REQUIRE(part.code == 75);
      losses.insert(losses.end(), part.losses.begin(), part.losses.end());
      // A start that is killed between this row and the change of its checkpoint evaluates again.
      if (stop > 7)
        std::ofstream(parted.path / "metrics.jsonl", std::ios::app)
            << R"({"step":)" << stop << R"(,"epoch":1,"eval/score":4})" << '\n';
    }
    CHECK(redco::workdir::read_manifest(parted.path / "ckpts/last").interrupted);
    outcome const rest = fit_mlp(resumed(parted.path), broken.options(), broken.examples());
    REQUIRE(rest.code == 0);
    losses.insert(losses.end(), rest.losses.begin(), rest.losses.end());
    CHECK(losses == all.losses);
    CHECK(run_test::bit_equal(rest.state, all.state));
    CHECK(evaluated(parted.path) == std::vector<std::int64_t>{3, 6, 9, 12, 15});
    CHECK(broken.epochs_ended == unbroken.epochs_ended);
    redco::workdir::manifest const last = redco::workdir::read_manifest(parted.path / "ckpts/last");
    CHECK(last.step == 15);
    CHECK(last.patience == redco::workdir::manifest::patience_facts{"min_score", 4});
    CHECK_FALSE(last.interrupted);
    CHECK(last.best.at("min_score").step == 3);
  }
}

TEST_CASE("a run that has stopped trains no step when it is started again, and continues with more patience") {
  for (bool const within : {false, true}) {
    temporary_folder const folder;
    course once{within};
    REQUIRE(fit_mlp(resumed(folder.path), once.options(), once.examples()).losses.size() == 15);
    auto const before = files_of(folder.path);
    for (int time = 0; time < 2; ++time) {
      outcome const again = fit_mlp(resumed(folder.path), once.options(), once.examples());
      CHECK(again.code == 0);
      CHECK(again.losses.empty());
      CHECK(again.evaluation.at("score") == 15);
      CHECK(again.log.find("nothing is left to train after step 15") != std::string::npos);
      CHECK(files_of(folder.path) == before);
    }
    mlp_options more = once.options();
    more.patience = 6;
    CHECK(fit_mlp(resumed(folder.path), more, once.examples()).losses.size() == 6);
  }
}

TEST_CASE("a complete run that is started again writes no row and no file twice") {
  temporary_folder const folder;
  course once{false};
  auto const options = [&](std::int64_t stop) {
    mlp_options o = once.options(stop);
    o.epochs = 3;
    o.patience = 0;
    return o;
  };
  // The signal comes after the last step, and ends its evaluation. The next start evaluates.
  REQUIRE(fit_mlp(resumed(folder.path), options(9), once.examples()).code == 75);
  redco::diag::stop_signals().answered();
  REQUIRE(fit_mlp(resumed(folder.path), options(0), once.examples()).code == 0);
  CHECK(once.epochs_ended == 3);
  CHECK(evaluated(folder.path) == std::vector<std::int64_t>{3, 6, 9});
  CHECK_FALSE(redco::workdir::read_manifest(folder.path / "ckpts/last").interrupted);
  auto const before = files_of(folder.path);
  outcome const again = fit_mlp(resumed(folder.path), options(0), once.examples());
  CHECK(again.code == 0);
  CHECK(again.losses.empty());
  CHECK(again.evaluation.at("score") == 9);
  CHECK(once.epochs_ended == 3);
  CHECK(files_of(folder.path) == before);
}

}  // namespace early_stopping_test
