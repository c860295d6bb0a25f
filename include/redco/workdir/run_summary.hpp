#pragma once

#include <redco/diag/exit_code.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redco::workdir {

/// The best value of a metric and the step that reached it.
struct best_metric {
  std::string name;  ///< "eval loss"
  double value = 0;
  std::int64_t step = 0;
};

/// How a run ended. Everything has a default, so it can be printed whatever went wrong and whenever.
struct run_summary {
  exit_code code = exit_code::done;
  std::string reason = {};  ///< "SIGTERM, SLURM job 4711", or the message of the error
  std::int64_t step = 0;
  std::int64_t steps = 0;  ///< steps asked for; 0: not known
  std::int64_t epoch = 0;
  std::int64_t epochs = 0;
  double seconds = 0;
  double per_second = 0;
  std::string unit = "tokens";  ///< what is counted per second
  std::optional<double> train_loss = {};
  std::vector<best_metric> best = {};
  std::string checkpoint = {};          ///< "run/ckpts/step_1200  (verified, 1.9 GB, saved in 1.2 s)"
  std::vector<std::string> files = {};  ///< of the run, those that are there
  std::vector<std::string> lines = {};  ///< whole lines of their own: "held-out loss 2.04 nats per byte (bound 2.1)"
  std::int64_t warnings = 0;
  std::int64_t lost_lines = 0;  ///< log lines, rows and events that no file took
  std::string resume = {};      ///< the exact command; empty where going on makes no sense
};

/// What an exit code is called in a summary, with what to do about it.
constexpr std::string_view status_name(exit_code code) {
  switch (code) {
    case exit_code::done: return "DONE";
    case exit_code::missed: return "MISSED";
    case exit_code::usage: return "USAGE";
    case exit_code::data: return "BAD DATA";
    case exit_code::peer_lost: return "PEER LOST";
    case exit_code::internal: return "FAILED";
    case exit_code::io: return "I/O ERROR";
    case exit_code::preempted: return "PREEMPTED";
    case exit_code::rendezvous: return "NO RENDEZVOUS";
    case exit_code::not_finite: return "NOT FINITE";
  }
  return "UNKNOWN";
}

/// The block that ends every run, also a failed one: status and exit code, steps, time, speed, losses, checkpoint,
/// files, what went wrong, and the command to resume. No line feed at its end.
std::string summary_text(run_summary const& run);

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/run_summary.inl.hpp>
#endif
