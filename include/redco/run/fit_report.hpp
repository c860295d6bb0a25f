#pragma once

#include <redco/run/step_measure.hpp>
#include <redco/workdir/fit_record.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::run {

/// A fit's record and what its ranks measured.
class fit_report : public workdir::fit_record {
 public:
  explicit fit_report(int ranks) : measures(static_cast<std::size_t>(ranks)) {}

  /// The step (counted from 0) that is measured: the third.
  static constexpr std::int64_t measured_step = 2;

  std::vector<step_measure> measures;  ///< of each rank in that step
};

}  // namespace redco::run
