#pragma once

#include <redco/run/fit_report.hpp>
#include <redco/workdir/best_values.hpp>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace redco {

/// The result of a fit: number of steps, losses, evaluation and written files.
struct fit_result {
  /// Number of steps that the run has done, including steps before it was resumed.
  std::int64_t steps = 0;
  /// Loss of each step of this fit; NaN if no token or example of the step counted (all labels
  /// masked).
  std::vector<double> losses = {};
  /// Throughput: number of tokens, images or examples per second.
  double per_second = 0;
  /// Metrics of the last evaluation, by name; a loss in which no token or example counted is NaN.
  options::metric_map evaluation = {};
  /// Best value, and its step, of each metric whose best checkpoint was kept.
  workdir::best_values best = {};
  /// Path of the newest checkpoint of the run; empty if none was written.
  std::filesystem::path checkpoint = {};
  /// Paths of the result files and event files that the fit has written.
  std::vector<std::filesystem::path> files = {};
  /// Memory and messages of each rank in the third step, by rank.
  std::vector<run::step_measure> measures = {};
};

}  // namespace redco
