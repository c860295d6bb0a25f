#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/process_choices.hpp>
#include <redco/run/step_work.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/workdir/best_metrics.hpp>
#include <redco/workdir/fit_record.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/workdir/run_recorder.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/options/value_text.hpp>
#include <redco/log/run_log.hpp>
#include <redco/shape/axis.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redco::run {

/// Logs choices of a run that no result shows: how replicas share state, which blocks are
/// recomputed, and the bytes of gradients that one sum reduces while backward runs.
inline void log_choices(deployer& where) {
  if (where.options().zero > 0) where.log().line(zero_text(where.zero(), where.mesh()));
  if (where.options().recompute.any())
    where.log().quiet_line("recomputed blocks: " + options::to_text(where.options().recompute));
  if (std::int64_t const bytes = where.gradient_bucket(); bytes > 0)
    where.log().quiet_line("gradients are summed over " + std::to_string(where.mesh().size(shape::batch_axes)) +
                           " replicas while backward runs, " + std::to_string(bytes) + " bytes at once");
}

/// A source of warnings about updates and loss terms in which no token or example counted, as when
/// all labels are masked. Warns at the first, 10th, 100th ... occurrence of each kind. Used by rank
/// 0.
class weight_watch {
 public:
  explicit weight_watch(log::run_log& log) : log_(log) {}

  /// Logs a warning if the loss of the update `done` had a count of 0, for example because all
  /// labels are masked. `step` is the number of the step, from 1. `network` is the name of a
  /// worker's network, or empty in a fit.
  void after_update(step_result const& done, std::int64_t step, std::string const& network = {}) {
    auto const at = [&] {
      return "step " + std::to_string(step) + (network.empty() ? "" : ", network \"" + network + "\"");
    };
    if (done.weight == 0)
      return warn(network, at() + ": nothing counted in the loss (its weight is 0), so no parameter was updated");
    for (auto const& [term, value] : done.terms)
      if (std::isnan(value))
        warn(network + "." + term, at() + ": nothing counted in the loss term \"" + term + "\" (its weight is 0)");
  }

 private:
  void warn(std::string const& kind, std::string const& text) {
    std::int64_t const times = ++times_[kind];
    std::int64_t power = 1;
    while (power < times) power *= 10;
    if (times != power) return;
    log_.warning(text + (times > 1 ? ", for the " + std::to_string(times) + "th time" : "") +
                 ": are all labels of its examples masked?");
  }

  log::run_log& log_;
  std::map<std::string, std::int64_t> times_;
};

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
  /// Adds a value that the user logs. The next row of metrics.jsonl has the mean of the values of
  /// all replicas since the last row. Ranks may log different numbers of values.
  void value(std::string const& name, double value) {
    if (rank_.coordinate(shape::replica_axes) == 0) add(logged_, name, value);
  }

  /// Records an evaluation after `step` steps, and replaces `metrics` on all ranks by rank 0's
  /// metrics. All ranks call it. Throws `error` with exit code 64 if `metrics` lacks a metric whose
  /// best checkpoint is to be kept.
  void evaluated(options::metric_map& metrics, std::int64_t step);

  /// Ends step `step`: writes a row of metrics.jsonl if one is due. All ranks call it; for a row,
  /// rank 0 gathers the values of the other replicas.
  void end_step(std::int64_t step);

  /// Returns the checkpoint names, such as "min_loss", for which an evaluation of this step was the
  /// best so far. Empties the list of names.
  std::vector<std::string> take_names() { return std::exchange(names_, {}); }

  workdir::best_metrics& best() { return best_; }

  /// Writes the files of best metric values. All ranks call it after the checkpoint is saved.
  void saved();

  /// Copies the last evaluation, the best values and the paths of written files into `run`, the
  /// record of the run.
  void describe(workdir::fit_record& run) const;

 private:
  /// Sum and number of the values of one name.
  struct mean_value {
    std::string name;
    double sum = 0;
    std::int64_t count = 0;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(name, sum, count);
    }
  };
  using mean_values = std::vector<mean_value>;

  static void add(mean_values& all, std::string const& name, double value);
  static mean_value& found(mean_values& all, std::string const& name);
  void set(std::string const& name, double value);
  void gather_logged();

  deployer& where_;
  rank_context& rank_;
  std::int64_t steps_, log_every_;
  std::int64_t row_begin_ = 0;  ///< number of the last step before the next row
  workdir::best_metrics best_;
  /// Writer of the outputs; set by begin() on rank 0 only.
  std::optional<workdir::run_recorder> recorder_;
  mean_values row_;  ///< values of the next row; on rank 0 only
  /// Values that the program has logged on this rank since the last row. Ranks of one replica log
  /// equal values, of which the first rank's count.
  mean_values logged_;
  std::vector<std::string> names_;
  options::metric_map evaluation_;
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/loop_record.inl.hpp>
#endif
