#pragma once

#include <redco/workdir/summarise.hpp>

#include <redco/config.hpp>

#include <system_error>
#include <vector>

namespace redco::workdir {

REDCO_INLINE void summarise(run_summary& summary, fit_record const& fit, std::filesystem::path const& workdir,
                            failure_history const& failures) {
  summary.step = fit.step;
  summary.steps = fit.steps;
  summary.epoch = fit.epoch + 1;
  summary.per_second = fit.per_second;
  summary.unit = fit.unit;
  if (!fit.losses.empty()) summary.train_loss = fit.losses.back();
  for (auto const& [name, value] : fit.best) summary.best.push_back({"eval " + name, value.value, value.step});
  summary.checkpoint = fit.checkpoint.string();
  std::vector<std::filesystem::path> files = {workdir / "log.txt", workdir / "metrics.jsonl"};
  files.insert(files.end(), fit.files.begin(), fit.files.end());
  std::error_code ignored;
  for (auto const& file : files)
    if (std::filesystem::is_regular_file(file, ignored)) summary.files.push_back(file.string());
  summary.lost_lines += fit.lost_rows;

  if (summary.code == exit_code::done || summary.code == exit_code::missed) failures.clear();
  else if (fit.steps > 0 && summary.code != exit_code::usage && summary.code != exit_code::preempted)
    failures.add(fit.step + 1, summary.reason);
}

}  // namespace redco::workdir
