#pragma once

#include <redco/workdir/run_summary.hpp>

#include <redco/options/command_line.hpp>
#include <redco/log/text.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>

namespace redco::workdir {

REDCO_INLINE std::string summary_text(run_summary const& run) {
  std::string text = "== redco run summary " + std::string(50, '=');
  auto line = [&text](std::string_view name, std::string const& content) {
    text += "\n" + std::string(name) + std::string(name.size() < 9 ? 9 - name.size() : 1, ' ') + content;
  };
  auto of = [](std::int64_t done, std::int64_t all) {
    return std::to_string(done) + (all > 0 ? "/" + std::to_string(all) : "");
  };

  std::string status(status_name(run.code));
  std::string const first_line = run.reason.substr(0, run.reason.find('\n'));
  bool const brief = log::columns(first_line) <= 40 && first_line.size() == run.reason.size();
  if (brief && !run.reason.empty()) status += " (" + run.reason + ")";
  std::size_t const used = log::columns(status);
  status += std::string(used < 44 ? 46 - used : 2, ' ') + "exit " + std::to_string(static_cast<int>(run.code));
  line("status", status + (run.code == exit_code::preempted ? ", requeue me" : ""));
  if (!brief) line("reason", run.reason);

  std::string steps = of(run.step, run.steps);
  if (run.epoch > 0) steps += "  epoch " + of(run.epoch, run.epochs);
  steps += "   time " + log::clock_text(run.seconds, true);
  if (run.per_second > 0) steps += "   " + log::count_text(run.per_second) + " " + run.unit + "/s";
  line("steps", steps);

  std::string losses = run.train_loss ? "train " + log::short_text(*run.train_loss, 4) : "";
  for (auto const& best : run.best) {
    losses += (losses.empty() ? "" : "   ") + best.name + " best " + log::short_text(best.value, 4) + " (step " +
              std::to_string(best.step) + ")";
  }
  if (!losses.empty()) line("loss", losses);
  line("ckpt", run.checkpoint.empty() ? "none" : run.checkpoint);
  for (std::size_t index = 0; index < run.files.size(); ++index) line(index == 0 ? "files" : "", run.files[index]);
  auto count = [](std::int64_t number, std::string const& noun) {
    return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
  };
  line("issues", count(run.warnings, "warning") + ", " + count(run.lost_lines, "lost log line"));
  for (auto const& free : run.lines) text += "\n" + free;
  if (!run.resume.empty()) line("resume", run.resume);
  return text;
}

REDCO_INLINE void conclude(run_summary& summary, exit_code code, std::string const& reason) {
  if (summary.code != code) {
    summary.code = code;
    summary.reason = reason;
  }
  bool const ended = code == exit_code::done || code == exit_code::missed;
  bool const refused = code == exit_code::usage || code == exit_code::not_finite;
  if (!ended && !refused && !summary.checkpoint.empty()) summary.resume = options::resume_command();
}

}  // namespace redco::workdir
