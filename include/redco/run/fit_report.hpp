#pragma once

#include <redco/run/step_measure.hpp>
#include <redco/workdir/fit_record.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::run {

/// A record of a fit, to which the memory use and the messages that each rank measured are added.
class fit_report : public workdir::fit_record {
 public:
  explicit fit_report(int ranks) : measures(static_cast<std::size_t>(ranks)) {}

  /// Index of the step whose memory and messages are measured, counted from 0: the third step.
  static constexpr std::int64_t measured_step = 2;

  /// Memory and messages of each rank in the measured step, by rank.
  std::vector<step_measure> measures;
};

}  // namespace redco::run
