#pragma once

#include <redco/run/fit_report.hpp>
#include <redco/workdir/best_values.hpp>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace redco {

/// What a fit came to.
struct fit_result {
  std::int64_t steps = 0;                         ///< steps done, those before a resume included
  std::vector<double> losses = {};                ///< of each step of this fit; NaN where nothing counted
  double per_second = 0;                          ///< tokens, images or examples
  metric_map evaluation = {};                     ///< the last one; a loss in which nothing counted is NaN
  workdir::best_values best = {};                 ///< of metrics whose best checkpoint was kept
  std::filesystem::path checkpoint = {};          ///< the newest; empty where none was written
  std::vector<std::filesystem::path> files = {};  ///< results and events that were written
  std::vector<run::step_measure> measures = {};   ///< what each rank held and sent in the third step
};

}  // namespace redco
