#pragma once

#include <redco/diag/exit_code.hpp>
#include <redco/run/detail/text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redco {

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
  double tokens_per_second = 0;
  std::optional<double> train_loss = {};
  std::vector<best_metric> best = {};
  std::string checkpoint = {};             ///< "run/ckpts/step_1200  (verified, 1.9 GB, saved in 1.2 s)"
  std::vector<std::string> files = {};     ///< written by the run
  std::vector<std::string> lines = {};     ///< whole lines of their own: "held-out loss 2.04 nats per byte (bound 2.1)"
  std::int64_t warnings = 0;
  std::int64_t lost_lines = 0;             ///< log lines, rows and events that no file took
  std::string resume = {};                 ///< the exact command
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
inline std::string summary_text(run_summary const& run) {
  std::string text = "== redco run summary " + std::string(50, '=');
  auto line = [&text](std::string_view name, std::string const& content) {
    text += "\n" + std::string(name) + std::string(name.size() < 9 ? 9 - name.size() : 1, ' ') + content;
  };
  auto of = [](std::int64_t done, std::int64_t all) {
    return std::to_string(done) + (all > 0 ? "/" + std::to_string(all) : "");
  };

  std::string status(status_name(run.code));
  std::string const first_line = run.reason.substr(0, run.reason.find('\n'));
  bool const brief = detail::columns(first_line) <= 40 && first_line.size() == run.reason.size();
  if (brief && !run.reason.empty()) status += " (" + run.reason + ")";
  std::size_t const used = detail::columns(status);
  status += std::string(used < 44 ? 46 - used : 2, ' ') + "exit " + std::to_string(static_cast<int>(run.code));
  line("status", status + (run.code == exit_code::preempted ? ", requeue me" : ""));
  if (!brief) line("reason", run.reason);

  std::string steps = of(run.step, run.steps);
  if (run.epoch > 0) steps += "  epoch " + of(run.epoch, run.epochs);
  steps += "   time " + detail::clock_text(run.seconds, true);
  if (run.tokens_per_second > 0) steps += "   " + detail::count_text(run.tokens_per_second) + " tok/s";
  line("steps", steps);

  std::string losses = run.train_loss ? "train " + detail::short_text(*run.train_loss, 4) : "";
  for (auto const& best : run.best) {
    losses += (losses.empty() ? "" : "   ") + best.name + " best " + detail::short_text(best.value, 4) + " (step " +
              std::to_string(best.step) + ")";
  }
  if (!losses.empty()) line("loss", losses);
  line("ckpt", run.checkpoint.empty() ? "none" : run.checkpoint);
  for (std::size_t index = 0; index < run.files.size(); ++index) line(index == 0 ? "files" : "", run.files[index]);
  auto count = [](std::int64_t number, std::string const& what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
  };
  line("issues", count(run.warnings, "warning") + ", " + count(run.lost_lines, "lost log line"));
  for (auto const& free : run.lines) text += "\n" + free;
  if (!run.resume.empty()) line("resume", run.resume);
  return text;
}

}  // namespace redco
