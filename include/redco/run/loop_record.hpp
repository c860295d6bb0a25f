#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/step_work.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/workdir/best_metrics.hpp>
#include <redco/workdir/fit_record.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/workdir/run_recorder.hpp>
#include <redco/options/fit_options.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redco::run {

/// What a worker's run writes besides its checkpoints: rows of metrics, events, the progress bar
/// and evaluations, of which it knows the best. All ranks have the same best metrics; rank 0 alone
/// writes.
class loop_record {
 public:
  /// `log_every`: steps between two rows. `best` names the metrics whose best checkpoints stay.
  loop_record(deployer& where, rank_context& rank, std::int64_t steps, std::int64_t log_every,
              workdir::best_metrics best)
      : where_(where), rank_(rank), steps_(steps), log_every_(log_every), best_(std::move(best)) {}

  /// The loop begins after this step, with the best metrics of a checkpoint.
  void begin(std::int64_t after_step);

  /// Takes in an update of a network, and a value of the program's own. The next row has the mean
  /// of losses and values since the last one.
  void updated(std::string const& network, step_result const& result);
  void value(std::string const& name, double value);

  /// Takes in an evaluation after `step` steps: rank 0's metrics, which all ranks get. All ranks
  /// call it. Errors: exit code 64 without a metric that is watched.
  void evaluated(metric_map& metrics, std::int64_t step);

  /// Ends a step: writes the row that is due.
  void end_step(std::int64_t step);

  /// Returns the names of the checkpoint that the evaluations of this step deserve, once.
  std::vector<std::string> take_names() { return std::exchange(names_, {}); }

  workdir::best_metrics& best() { return best_; }

  /// Writes the best values, after their checkpoint.
  void saved();

  /// Adds what was written to the record of the run.
  void describe(workdir::fit_record& run) const;

 private:
  struct mean_value {
    std::string name;
    double sum = 0;
    std::int64_t count = 0;
  };

  void add(std::string name, double value);
  void set(std::string name, double value);
  mean_value& found(std::string&& name);

  deployer& where_;
  rank_context& rank_;
  std::int64_t steps_, log_every_;
  std::int64_t row_begin_ = 0;  ///< step after which the next row begins
  workdir::best_metrics best_;
  std::optional<workdir::run_recorder> recorder_;  ///< rank 0, after begin
  std::vector<mean_value> row_;
  std::vector<std::string> names_;
  metric_map evaluation_;
};

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/loop_record.inl.hpp>
#endif
