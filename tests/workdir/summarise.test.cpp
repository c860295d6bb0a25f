#include "catch.hpp"
#include "temporary_folder.hpp"

#include <redco/workdir/fit_record.hpp>
#include <redco/workdir/run_summary.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

struct ended_fit {
  redco::workdir::run_summary summary;
  std::string failures;
};

/// Returns a fit that ended with `code` after 3 of 6 steps. The run resumed from step 2.
ended_fit ended(redco::exit_code code, std::filesystem::path const& workdir, bool saved = true) {
  redco::workdir::fit_record fit;
  fit.started(2, 0);
  fit.after_step({.step = 3, .epoch = 1, .loss = 0.5}, 20);
  fit.steps = 6;
  fit.lost_rows = 2;
  fit.best = {{"min_loss", {0.25, 2}}};
  fit.files = {workdir / "min_metrics.json", workdir / "absent.json"};
  if (saved) fit.checkpoint = workdir / "ckpts/step_3";
  redco::workdir::failure_history const history(workdir);
  ended_fit end{{.code = code, .reason = "why", .lost_lines = 1}, ""};
  redco::workdir::summarise(end.summary, fit, workdir, history);
  redco::workdir::conclude(end.summary, code, "another reason");
  if (std::filesystem::exists(history.file())) end.failures = content_of(history.file());
  return end;
}

}  // namespace

TEST_CASE("the summary has the report of the fit and the existing files") {
  temporary_folder const folder;
  std::ofstream(folder / "log.txt") << "x";
  std::ofstream(folder / "min_metrics.json") << "{}";
  redco::workdir::run_summary const s = ended(redco::exit_code::done, folder.path).summary;
  CHECK(s.step == 3);
  CHECK(s.steps == 6);
  CHECK(s.epoch == 2);
  CHECK(s.train_loss == 0.5);
  CHECK(s.per_second == 20);
  REQUIRE(s.best.size() == 1);
  CHECK(s.best.front().name == "eval min_loss");
  CHECK(s.best.front().step == 2);
  CHECK(s.lost_lines == 3);
  CHECK(s.files == std::vector<std::string>{(folder / "log.txt").string(), (folder / "min_metrics.json").string()});
  CHECK(s.resume.empty());
}

TEST_CASE("the command to resume is given if the run can continue, and failures stay until a run completes") {
  using redco::exit_code;
  temporary_folder const folder;
  CHECK_FALSE(ended(exit_code::preempted, folder.path).summary.resume.empty());
  CHECK(ended(exit_code::preempted, folder.path).failures.empty());
  CHECK(ended(exit_code::usage, folder.path).summary.resume.empty());
  CHECK(ended(exit_code::usage, folder.path).failures.empty());
  CHECK(ended(exit_code::internal, folder.path, false).summary.resume.empty());
  ended_fit const failed = ended(exit_code::internal, folder.path);
  CHECK_FALSE(failed.summary.resume.empty());
  CHECK(failed.failures == "4 why\n4 why\n");
  CHECK(ended(exit_code::not_finite, folder.path).summary.resume.empty());
  CHECK(ended(exit_code::missed, folder.path).failures.empty());
}

TEST_CASE("sixty results files are one line of the summary") {
  temporary_folder const folder;
  redco::workdir::fit_record fit;
  for (int epoch = 0; epoch < 60; ++epoch)
    fit.files.push_back(folder / ("eval_results_epoch" + std::to_string(epoch) + ".json"));
  fit.files.push_back(folder / "outputs_epoch7.json");
  fit.files.push_back(folder / "min_metrics.json");
  fit.files.push_back(folder / "events.out.tfevents.12.host.3.4");
  fit.files.push_back(folder / "events.out.tfevents.12.host.3.5");
  for (auto const& file : fit.files) std::ofstream(file) << "x";
  fit.files.push_back(folder / "eval_results_epoch60.json");  // does not exist
  redco::workdir::run_summary summary;
  redco::workdir::summarise(summary, fit, folder.path, redco::workdir::failure_history(folder.path));
  std::string const at = folder.path.string() + "/";
  CHECK(summary.files == std::vector<std::string>{at + "min_metrics.json", at + "events.out.tfevents.12.host.3.4",
                                                  at + "events.out.tfevents.12.host.3.5",
                                                  at + "eval_results_epoch0.json ... 59.json (60 files)",
                                                  at + "outputs_epoch7.json"});
}
