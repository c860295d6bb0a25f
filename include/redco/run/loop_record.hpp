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

/// The output of a worker's loop apart from checkpoints: rows of metrics, events, the progress bar
/// and evaluations. Also keeps the best metrics, which are equal on all ranks. Rank 0 alone writes.
class loop_record {
 public:
  /// `log_every`: number of steps between two rows. `best`: the metrics whose best checkpoints are
  /// kept.
  loop_record(deployer& where, rank_context& rank, std::int64_t steps, std::int64_t log_every,
              workdir::best_metrics best)
      : where_(where), rank_(rank), steps_(steps), log_every_(log_every), best_(std::move(best)) {}

  /// Begins the loop after step `after_step`, with the best metrics of the checkpoint.
  void begin(std::int64_t after_step);

  /// Adds the result of an update of one network. The next row has the mean of its losses since the
  /// last row, and its latest learning rate and gradient norm.
  void updated(std::string const& network, step_result const& result);
  /// Adds a value of the program's own; the next row has its mean since the last row.
  void value(std::string const& name, double value);

  /// Records an evaluation after `step` steps, and replaces `metrics` on all ranks by rank 0's. All
  /// ranks call it. Throws `error` with exit code 64 if a watched metric is missing.
  void evaluated(metric_map& metrics, std::int64_t step);

  /// Ends a step: writes a row if one is due.
  void end_step(std::int64_t step);

  /// Returns the checkpoint names that the evaluations of this step have improved, and forgets
  /// them.
  std::vector<std::string> take_names() { return std::exchange(names_, {}); }

  workdir::best_metrics& best() { return best_; }

  /// Writes the file of best values. Call it after the checkpoint is saved.
  void saved();

  /// Adds evaluation, best values and written files to the record of the run.
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
  std::optional<workdir::run_recorder> recorder_;  ///< set on rank 0, by begin()
  std::vector<mean_value> row_;
  std::vector<std::string> names_;
  metric_map evaluation_;
};

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/loop_record.inl.hpp>
#endif
