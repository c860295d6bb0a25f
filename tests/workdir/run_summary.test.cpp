#include "catch.hpp"

#include "temporary_folder.hpp"

#include <redco/workdir/fit_record.hpp>
#include <redco/workdir/run_summary.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

TEST_CASE("the summary of a preempted run says how to resume") {
  redco::workdir::run_summary run;
  run.code = redco::exit_code::preempted;
  run.reason = "SIGTERM, SLURM job 4711";
  run.step = 1200;
  run.steps = 5000;
  run.epoch = 2;
  run.epochs = 3;
  run.seconds = 2470.4;
  run.per_second = 18430;
  run.unit = "images";
  run.train_loss = 2.31;
  run.best = {{"eval loss", 2.13, 1000}, {"bleu", 31.25, 800}};
  run.checkpoint = "workdir/ckpts/step_1200  (verified, 1.9 GB, saved in 1.2 s)";
  run.files = {"workdir/log.txt", "workdir/metrics.jsonl"};
  run.warnings = 2;
  run.lines = {"held-out loss 2.04 nats per byte (bound 2.1)"};
  run.resume = "./train --config workdir/config.json --resume auto";
  CHECK(redco::workdir::summary_text(run) ==
        "== redco run summary ==================================================\n"
        "status   PREEMPTED (SIGTERM, SLURM job 4711)           exit 75, requeue me\n"
        "steps    1200/5000  epoch 2/3   time 00:41:10   18.4k images/s\n"
        "loss     train 2.310   eval loss best 2.130 (step 1000)   bleu best 31.25 (step 800)\n"
        "ckpt     workdir/ckpts/step_1200  (verified, 1.9 GB, saved in 1.2 s)\n"
        "files    workdir/log.txt\n"
        "         workdir/metrics.jsonl\n"
        "issues   2 warnings, 0 lost log lines\n"
        "held-out loss 2.04 nats per byte (bound 2.1)\n"
        "resume   ./train --config workdir/config.json --resume auto");
}

TEST_CASE("a run that failed before its first step has a summary too, with the whole error") {
  redco::workdir::run_summary run;
  run.code = redco::exit_code::internal;
  run.reason = "rank 1 step 7: loss threw: index 300 is out of range; the vocabulary has 256 entries";
  run.warnings = 1;
  run.lost_lines = 1;
  CHECK(redco::workdir::summary_text(run) ==
        "== redco run summary ==================================================\n"
        "status   FAILED                                        exit 70\n"
        "reason   rank 1 step 7: loss threw: index 300 is out of range; the vocabulary has 256 entries\n"
        "steps    0   time 00:00:00\n"
        "ckpt     none\n"
        "issues   1 warning, 1 lost log line");
}

TEST_CASE("every exit code has a name of its own") {
  using redco::exit_code;
  std::set<std::string_view> names;
  for (exit_code code :
       {exit_code::done, exit_code::missed, exit_code::usage, exit_code::data, exit_code::peer_lost,
        exit_code::internal, exit_code::io, exit_code::preempted, exit_code::rendezvous, exit_code::not_finite}) {
    names.insert(redco::workdir::status_name(code));
  }
  CHECK(names.size() == 10);
  CHECK(names.count("UNKNOWN") == 0);
}

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
