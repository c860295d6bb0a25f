#pragma once

#include <redco/report/run_request.hpp>
#include <redco/report/smallest_change.hpp>

#include <redco/shape/mesh.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redco::report {

/// A number of model shards that a request could have, as the mesh that results.
struct legal_width {
  redco::mesh mesh;
  std::int64_t peak = 0;  ///< bytes of one rank
};

/// The answers that a report gives first: numbers of model shards, the smallest change that fits,
/// and the time of a step.
struct report_answer {
  run_request asked;
  std::vector<legal_width> widths;
  std::optional<fitting_change> change = {};  ///< empty if the run fits, or if nothing helps
  std::optional<double> step_seconds = {};    ///< predicted for the measured machine
  std::string untimed = {};                   ///< reason for which there are no step_seconds
};

}  // namespace redco::report
