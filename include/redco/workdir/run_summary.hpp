#pragma once

#include <redco/diag/exit_code.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redco::workdir {

/// A metric's best value and the step that reached it.
struct best_metric {
  std::string name;  ///< name such as "eval loss"
  double value = 0;
  std::int64_t step = 0;
};

/// A summary of how a run ended. Every member has a default, so that the summary can be printed at
/// any time and after any failure.
struct run_summary {
  exit_code code = exit_code::done;
  std::string reason = {};  ///< message of the error, or a text such as "SIGTERM, SLURM job 4711"
  std::int64_t step = 0;
  std::int64_t steps = 0;  ///< number of requested steps; 0: unknown
  std::int64_t epoch = 0;
  std::int64_t epochs = 0;
  double seconds = 0;
  double per_second = 0;
  std::string unit = "tokens";  ///< unit of `per_second`
  std::optional<double> train_loss = {};
  std::vector<best_metric> best = {};
  /// Newest checkpoint, such as "run/ckpts/step_1200  (verified, 1.9 GB, saved in 1.2 s)".
  std::string checkpoint = {};
  std::vector<std::string> files = {};  ///< files of the run that exist
  /// Additional lines, such as "held-out loss 2.04 nats per byte (bound 2.1)".
  std::vector<std::string> lines = {};
  std::int64_t warnings = 0;
  std::int64_t lost_lines = 0;  ///< log lines, rows and events that could not be written
  /// Exact command to resume; empty if resuming makes no sense.
  std::string resume = {};
};

/// Returns the name of an exit code in a summary.
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

/// Returns the text that ends every run, also a failed one. It has status and exit code, steps,
/// time, speed, losses, checkpoint, files, problems, and the command to resume. The text does not
/// end with a line feed.
std::string summary_text(run_summary const& run);

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/run_summary.inl.hpp>
#endif
