#pragma once

#include <redco/report/run_request.hpp>
#include <redco/report/smallest_change.hpp>

#include <redco/shape/mesh.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redco::report {

/// A possible number of model shards for a requested run: the resulting mesh and the peak bytes of
/// a rank.
struct legal_width {
  redco::mesh mesh;
  std::int64_t peak = 0;  ///< Peak bytes of one rank on this mesh
};

/// A set of answers for the beginning of a report: the possible numbers of model shards, the
/// smallest change that fits the memory budget, and the step time.
struct report_answer {
  run_request asked;
  std::vector<legal_width> widths;
  /// Smallest change with which the run fits the budget. Empty if the run already fits, or if no
  /// change makes it fit.
  std::optional<fitting_change> change = {};
  /// Predicted time of a step in seconds on the measured machine; empty: no prediction.
  std::optional<double> step_seconds = {};
  std::string untimed = {};  ///< Reason why the member `step_seconds` is empty
};

}  // namespace redco::report
