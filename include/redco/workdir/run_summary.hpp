#pragma once

#include <redco/diag/error.hpp>
#include <redco/meta/enum_texts.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redco::workdir {

/// The best value of a metric and the step of its evaluation, for the summary of a run.
struct best_metric {
  std::string name;  ///< text for the metric, such as "eval loss"
  double value = 0;
  std::int64_t step = 0;
};

/// A summary of a run, printed at the program's end. Every member has a default, so that the
/// summary can be printed after any failure.
struct run_summary {
  exit_code code = exit_code::done;
  std::string reason = {};  ///< error message, or a text such as "SIGTERM, SLURM job 4711"
  std::int64_t step = 0;
  std::int64_t steps = 0;  ///< number of steps that were requested; 0 if unknown
  std::int64_t epoch = 0;
  std::int64_t epochs = 0;
  double seconds = 0;
  double per_second = 0;
  std::string unit = "tokens";  ///< unit of `per_second`
  std::optional<double> train_loss = {};
  std::vector<best_metric> best = {};
  /// Text about the newest checkpoint, such as "run/ckpts/step_1200  (verified, 1.9 GB, saved in
  /// 1.2 s)".
  std::string checkpoint = {};
  std::vector<std::string> files = {};  ///< paths of the run's files that exist
  /// Additional lines of the user's, such as "held-out loss 2.04 nats per byte (bound 2.1)".
  std::vector<std::string> lines = {};
  std::int64_t warnings = 0;
  std::int64_t lost_lines = 0;  ///< number of log lines, rows and events that could not be written
  /// Command that resumes the run; empty if resuming cannot help.
  std::string resume = {};
};

inline constexpr auto status_texts = meta::enum_texts<exit_code, static_cast<std::size_t>(exit_code::not_finite) + 1>({
    {exit_code::done, "DONE"},
    {exit_code::missed, "MISSED"},
    {exit_code::usage, "USAGE"},
    {exit_code::data, "BAD DATA"},
    {exit_code::peer_lost, "PEER LOST"},
    {exit_code::internal, "FAILED"},
    {exit_code::io, "I/O ERROR"},
    {exit_code::preempted, "PREEMPTED"},
    {exit_code::rendezvous, "NO RENDEZVOUS"},
    {exit_code::not_finite, "NOT FINITE"},
});

/// Returns the word for an exit code that the summary prints, such as "DONE" for 0.
constexpr std::string_view status_name(exit_code code) {
  std::string_view const name = status_texts.text_of(code);
  return name.empty() ? "UNKNOWN" : name;
}

/// Returns the summary as text, without a line feed at its end: status and exit code, steps, time,
/// speed, losses, checkpoint, files, problems, and the command to resume. Printed at the end of
/// every run, also after failures.
std::string summary_text(run_summary const& run);

/// Sets the exit code of a program in its summary. Also sets the reason, unless the fit has ended
/// with the same code. Adds the command that resumes the run, if repeating it can succeed: not for
/// code 64 (wrong options), nor for 79 (the same step would not be finite again).
void conclude(run_summary& summary, exit_code code, std::string const& reason);

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/run_summary.inl.hpp>
#endif
