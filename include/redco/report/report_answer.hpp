#pragma once

#include <redco/report/run_request.hpp>
#include <redco/report/smallest_change.hpp>

#include <redco/shape/mesh.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redco::report {

/// A possible number of model shards for a request, given as the resulting mesh.
struct legal_width {
  redco::mesh mesh;
  std::int64_t peak = 0;  ///< peak bytes of one rank
};

/// Answers at the beginning of a report: possible numbers of model shards, the smallest change that
/// fits, and the step time.
struct report_answer {
  run_request asked;
  std::vector<legal_width> widths;
  /// Empty if the run fits, or if no change makes it fit
  std::optional<fitting_change> change = {};
  /// Step time in seconds, predicted for the measured machine
  std::optional<double> step_seconds = {};
  std::string untimed = {};  ///< reason for an empty step_seconds
};

}  // namespace redco::report
