#pragma once

#include <redco/run/fit_report.hpp>
#include <redco/workdir/best_values.hpp>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace redco {

/// The result of a fit: its steps, losses, evaluation and files.
struct fit_result {
  /// Number of steps done, including steps before a resume.
  std::int64_t steps = 0;
  /// Loss of each step of this fit; NaN if nothing counted in the step.
  std::vector<double> losses = {};
  /// Number of tokens, images or examples per second.
  double per_second = 0;
  /// Metrics of the last evaluation; a loss in which nothing counted is NaN.
  metric_map evaluation = {};
  /// Best values of the metrics whose best checkpoint was kept.
  workdir::best_values best = {};
  /// Path of the newest checkpoint; empty if none was written.
  std::filesystem::path checkpoint = {};
  /// Paths of the result and event files that were written.
  std::vector<std::filesystem::path> files = {};
  /// Memory and messages of each rank in the third step.
  std::vector<run::step_measure> measures = {};
};

}  // namespace redco
