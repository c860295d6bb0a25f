#pragma once

#include <redco/workdir/best_metrics.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/log/console.hpp>
#include <redco/log/event_writer.hpp>
#include <redco/log/metrics_log.hpp>
#include <redco/log/progress.hpp>
#include <redco/log/run_log.hpp>
#include <redco/json/value_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace redco::workdir {

/// What rank 0 writes while training: the bar, metrics.jsonl, TensorBoard events, results files. Failing logs never
/// stop a run; they are counted.
class run_recorder {
 public:
  /// `unit` is what is counted per second: tokens by the loss' weights, all else by examples.
  run_recorder(log::console& where, log::run_log& log, std::filesystem::path workdir, std::int64_t steps_done,
               std::string unit);

  void begin_epoch(int epoch, int epochs, std::int64_t steps, std::int64_t done, std::int64_t run_left);

  /// A step over `examples`, whose loss weighed `weight`.
  void step(fit_event const& e, std::int64_t done_in_epoch, double weight, std::int64_t examples);

  /// For a loop of a program's own: its steps, of which `done` are, and `steps` of them with their
  /// values by name.
  void begin_loop(std::int64_t total, std::int64_t done);
  void loop_step(std::int64_t step, std::int64_t steps, std::vector<std::pair<std::string, double>> const& values);

  /// An evaluation is no training time.
  void resume_clock() { last_ = clock::now(); }
  void end_epoch() { bar_.finish(); }

  /// Of an epoch, or of a loop without epochs.
  void evaluation(metric_map const& metrics, std::int64_t step, std::optional<int> epoch);

  /// Writes a results file; a failure is a warning.
  void save(std::string const& name, json::json_value const& results);

  /// Writes min_metrics.json and max_metrics.json.
  void save_best(best_metrics const& best);

  /// Writes outputs_epoch<i>.json: `outputs` is [{"example": ..., "output": ...}, ...]. The first texts among them become
  /// samples in TensorBoard.
  void outputs(json::json_value const& outputs, std::int64_t step, int epoch);

  ~run_recorder();

  double per_second() const { return total_seconds_ > 0 ? total_items_ / total_seconds_ : 0; }

  /// Results and events that were written.
  std::vector<std::filesystem::path> files() const;

  /// Rows and events that were not.
  std::int64_t lost() const { return metrics_.lost() + events_.lost(); }

 private:
  using clock = std::chrono::steady_clock;

  /// Takes in items that were computed since the last call, and returns how many per second.
  double rate_of(double items);

  std::filesystem::path workdir_;
  log::run_log& log_;
  log::progress bar_;
  log::metrics_log metrics_;
  log::event_writer events_;
  std::string unit_;
  std::set<std::filesystem::path> saved_;
  clock::time_point last_ = clock::now();
  double items_ = 0, total_items_ = 0, total_seconds_ = 0;
};

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/run_recorder.inl.hpp>
#endif
