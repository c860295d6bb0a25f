#pragma once

#include <redco/workdir/fit_record.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace redco::workdir::detail {

/// Returns paths as lines for the summary. JSON files whose names differ only in a number share one
/// line: "run/eval_results_epoch0.json ... 59.json (60 files)".
inline std::vector<std::string> grouped(std::vector<std::filesystem::path> const& files) {
  std::vector<std::string> lines;
  std::map<std::string, std::vector<std::int64_t>> groups;
  for (auto const& file : files) {
    std::string const path = file.string();
    std::size_t const end = path.ends_with(".json") ? path.size() - 5 : 0;
    std::size_t const begin = end == 0 ? 0 : path.find_last_not_of("0123456789", end - 1) + 1;
    std::int64_t number = 0;
    if (end > 0 && std::from_chars(path.data() + begin, path.data() + end, number).ec == std::errc{})
      groups[path.substr(0, begin)].push_back(number);
    else lines.push_back(path);
  }
  for (auto const& [before, numbers] : groups) {
    auto const [least, most] = std::minmax_element(numbers.begin(), numbers.end());
    std::string line = before + std::to_string(*least) + ".json";
    if (numbers.size() > 1)
      line += " ... " + std::to_string(*most) + ".json (" + std::to_string(numbers.size()) + " files)";
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace redco::workdir::detail

namespace redco::workdir {

REDCO_INLINE void summarise(run_summary& summary, fit_record const& fit, std::filesystem::path const& workdir,
                            failure_history const& failures) {
  summary.step = fit.step;
  summary.steps = fit.steps;
  summary.epoch = fit.epoch + 1;
  summary.per_second = fit.per_second;
  summary.unit = fit.unit;
  if (!fit.losses.empty() && !std::isnan(fit.losses.back())) summary.train_loss = fit.losses.back();
  for (auto const& [name, value] : fit.best) summary.best.push_back({"eval " + name, value.value, value.step});
  summary.checkpoint = fit.checkpoint.string();
  std::vector<std::filesystem::path> files = {workdir / "log.txt", workdir / "metrics.jsonl"};
  files.insert(files.end(), fit.files.begin(), fit.files.end());
  std::error_code ignored;
  std::erase_if(files, [&](auto const& file) { return !std::filesystem::is_regular_file(file, ignored); });
  for (std::string& line : detail::grouped(files)) summary.files.push_back(std::move(line));
  summary.lost_lines += fit.lost_rows;

  if (summary.code == exit_code::done || summary.code == exit_code::missed) failures.clear();
  else if (fit.steps > 0 && summary.code != exit_code::usage && summary.code != exit_code::preempted)
    failures.add(fit.step + 1, summary.reason);
}

}  // namespace redco::workdir
