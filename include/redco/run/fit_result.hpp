#pragma once

#include <redco/run/fit_report.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace redco {

/// What a fit came to.
struct fit_result {
  std::int64_t steps = 0;                                          ///< updates done, those before a resume included
  std::vector<double> losses = {};                                 ///< of each step of this fit
  double per_second = 0;                                           ///< tokens, images or examples
  metric_map evaluation = {};                                      ///< the last one
  std::map<std::string, workdir::manifest::best_value> best = {};  ///< of metrics whose best checkpoint was kept
  std::filesystem::path checkpoint = {};                           ///< the newest; empty where none was written
  std::vector<std::filesystem::path> files = {};                   ///< results and events that were written
  std::vector<run::step_measure> measures = {};                    ///< what each rank held and sent in the third step
};

}  // namespace redco
