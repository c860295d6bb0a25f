#include "catch.hpp"

#include <redco/workdir/run_summary.hpp>

#include <set>
#include <string>

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
