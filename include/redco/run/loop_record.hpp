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

/// The outputs of a worker's loop except checkpoints: metrics.jsonl, TensorBoard events, the
/// progress bar and evaluations. Also keeps the best metrics, which are equal on all ranks. Only
/// rank 0 writes.
class loop_record {
 public:
  /// Creates the outputs of a loop of `steps` steps. `log_every`: number of steps between two rows
  /// of metrics.jsonl. `best`: the metrics whose best checkpoints are kept.
  loop_record(deployer& where, rank_context& rank, std::int64_t steps, std::int64_t log_every,
              workdir::best_metrics best)
      : where_(where), rank_(rank), steps_(steps), log_every_(log_every), best_(std::move(best)) {}

  /// Begins the loop after step `after_step`: 0, or the step of the checkpoint from which the run
  /// resumes.
  void begin(std::int64_t after_step);

  /// Adds the result of an update of one network. The next row of metrics.jsonl has the mean of the
  /// losses since the last row, and the latest learning rate and gradient norm.
  void updated(std::string const& network, step_result const& result);
  /// Adds a value that the user logs. The next row of metrics.jsonl has the mean of the values
  /// since the last row.
  void value(std::string const& name, double value);

  /// Records an evaluation after `step` steps, and replaces `metrics` on all ranks by rank 0's
  /// metrics. All ranks call it. Throws `error` with exit code 64 if `metrics` lacks a metric whose
  /// best checkpoint is to be kept.
  void evaluated(options::metric_map& metrics, std::int64_t step);

  /// Ends step `step`: writes a row of metrics.jsonl if one is due.
  void end_step(std::int64_t step);

  /// Returns the checkpoint names, such as "min_loss", for which an evaluation of this step was the
  /// best so far. Empties the list of names.
  std::vector<std::string> take_names() { return std::exchange(names_, {}); }

  workdir::best_metrics& best() { return best_; }

  /// Writes the files of best metric values. Call it after the checkpoint is saved.
  void saved();

  /// Copies the last evaluation, the best values and the paths of written files into `run`, the
  /// record of the run.
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
  std::int64_t row_begin_ = 0;  ///< number of the last step before the next row
  workdir::best_metrics best_;
  /// Writer of the outputs; set by begin() on rank 0 only.
  std::optional<workdir::run_recorder> recorder_;
  std::vector<mean_value> row_;
  std::vector<std::string> names_;
  options::metric_map evaluation_;
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/loop_record.inl.hpp>
#endif
