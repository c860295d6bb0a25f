#pragma once

#include <redco/run/step_measure.hpp>
#include <redco/comm/group.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/workdir/new_run_id.hpp>
#include <redco/options/fit_options.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redco {

/// What a fit leaves behind for the caller and for the end summary. Rank 0 writes it while the ranks run; the slots of
/// predictions are shared by all of them.
template <class Output>
class fit_report {
 public:
  explicit fit_report(int ranks) : measures(static_cast<std::size_t>(ranks)), run(new_run_id()) {}

  /// The step (counted from 0) that is measured: the third.
  static constexpr std::int64_t measured_step = 2;

  std::vector<step_measure> measures;           ///< of each rank in that step
  std::string run;                              ///< one id for a run and all its resumptions
  std::map<std::string, std::string> settings;  ///< what the run was told
  std::int64_t first_step = 0, step = 0, steps = 0;
  int epoch = 0;
  double loss = 0, per_second = 0;
  std::string unit = "tokens";               ///< what is counted per second
  std::vector<std::filesystem::path> files;  ///< results and events that were written
  std::int64_t lost_rows = 0;                ///< of metrics and events
  metric_map evaluation;
  std::map<std::string, manifest::best_value> best;
  std::filesystem::path checkpoint;
  bool preempted = false;  ///< a signal ended it, with work left

  void started(std::int64_t after_step, int in_epoch) {
    first_step = step = after_step;
    epoch = in_epoch;
  }

  void after_step(fit_event const& e, double rate) {
    step = e.step;
    epoch = e.epoch;
    loss = e.loss;
    per_second = rate;
  }

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

}  // namespace redco
