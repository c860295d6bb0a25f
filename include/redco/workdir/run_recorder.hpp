#pragma once

#include <redco/workdir/best_metrics.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/log/console.hpp>
#include <redco/log/event_writer.hpp>
#include <redco/log/metrics_log.hpp>
#include <redco/log/progress.hpp>
#include <redco/log/run_log.hpp>
#include <redco/json/value_fwd.hpp>
#include <redco/diag/error.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace redco::workdir {

/// Writes `results` as indented JSON to `file`, such as `min_metrics.json`, completely or not at
/// all. An earlier file of this name stays until the new file is on the disk. Numbers that are not
/// finite become null. Only one process (that of rank 0) may write the file.
///
/// Throws `error` with exit code 74 if the disk fails, or 65 if a string is not UTF-8. The earlier
/// file is then unchanged.
void write_results(std::filesystem::path const& file, json::json_value const& results);

/// A writer of the outputs of training on rank 0: progress bar, metrics.jsonl, TensorBoard events
/// and result files. A failed write does not end the run, but is counted.
class run_recorder {
 public:
  /// Sizes of a step's global batch.
  struct step_size {
    double tokens = 0;  ///< number of token ids without padding; 0 if the batch has no token ids
    double weight = 0;  ///< number of tokens or examples that counted in the loss
    std::int64_t examples = 0;
  };

  /// Opens the outputs in `workdir`. Rows of metrics.jsonl after step `steps_done` are moved to a
  /// file metrics.older-*.jsonl, which the log names. With `evaluates_again`, the row of an
  /// evaluation after `steps_done` is removed. `unit`: unit of the throughput. For "tokens",
  /// the throughput counts token ids, and the row of a step also has the labels per second, which
  /// are the weight of the loss. For all other units, the throughput counts examples.
  run_recorder(log::console& where, log::run_log& log, std::filesystem::path workdir, std::int64_t steps_done,
               std::string unit, bool evaluates_again = false);

  void begin_epoch(int epoch, int epochs, std::int64_t steps, std::int64_t done, std::int64_t run_left);

  /// Records a training step.
  void step(fit_event const& e, std::int64_t done_in_epoch, step_size const& size);

  /// Starts the record of a worker's loop of `total` steps, of which `done` are done already. Each
  /// call of loop_step() then records `steps` steps with named values.
  void begin_loop(std::int64_t total, std::int64_t done);
  void loop_step(std::int64_t step, std::int64_t steps, std::vector<std::pair<std::string, double>> const& values);

  /// Restarts the clock of the throughput. Call it after an evaluation or a save, so that this time
  /// is not counted as training time.
  void resume_clock() { last_ = clock::now(); }
  void end_epoch() { bar_.finish(); }

  /// Records the metrics of an evaluation after `step` steps. `epoch` is empty in loops without
  /// epochs.
  void evaluation(options::metric_map const& metrics, std::int64_t step, std::optional<int> epoch);

  /// Writes `results` to the JSON file `name` in the workdir. Logs a warning if writing fails.
  void save(std::string const& name, json::json_value const& results);

  /// Writes the best metric values to min_metrics.json and max_metrics.json.
  void save_best(best_metrics const& best);

  /// Writes outputs_epoch<i>.json with examples and their predictions: `[{"example": ..., "output":
  /// ...}, ...]`. The first texts also go to TensorBoard.
  void outputs(json::json_value const& outputs, std::int64_t step, int epoch);

  ~run_recorder();

  double per_second() const { return total_seconds_ > 0 ? total_items_ / total_seconds_ : 0; }

  /// Returns the paths of the written result files and event files.
  std::vector<std::filesystem::path> files() const;

  /// Returns the number of rows of metrics and events that could not be written.
  std::int64_t lost() const { return metrics_.lost() + events_.lost(); }

 private:
  using clock = std::chrono::steady_clock;

  /// Adds `items` (tokens or examples) computed since the last call. Returns the number of items
  /// per second since that call.
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

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/run_recorder.inl.hpp>
#endif
