#pragma once

#include <redco/run/step_measure.hpp>
#include <redco/comm/group.hpp>
#include <redco/workdir/fit_record.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace redco::run {

/// A fit's record, what its ranks measured, and their predictions, whose slots are shared by all of them.
template <class Output>
class fit_report : public workdir::fit_record {
 public:
  explicit fit_report(int ranks) : measures(static_cast<std::size_t>(ranks)) {}

  /// The step (counted from 0) that is measured: the third.
  static constexpr std::int64_t measured_step = 2;

  std::vector<step_measure> measures;  ///< of each rank in that step

  /// One slot per example, made by rank 0, for all ranks to fill.
  std::vector<std::optional<Output>>& slots(std::int64_t size, group& world) {
    if (world.rank() == 0) slots_.assign(static_cast<std::size_t>(size), std::nullopt);
    world.barrier();
    return slots_;
  }

  /// The filled slots, in the order of the examples. On rank 0.
  std::vector<Output> outputs() const {
    std::vector<Output> all;
    for (auto const& slot : slots_) all.push_back(slot.value());
    return all;
  }

  /// Rank 0's metrics, told to all: whatever is decided by them is decided alike.
  metric_map told(metric_map const& metrics, group& world) {
    if (world.rank() == 0) evaluation = metrics;
    world.barrier();
    return evaluation;
  }

 private:
  std::vector<std::optional<Output>> slots_;
};

}  // namespace redco::run
