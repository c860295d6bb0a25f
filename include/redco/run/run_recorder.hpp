#pragma once

#include <redco/run/console.hpp>
#include <redco/run/event_writer.hpp>
#include <redco/run/fit_options.hpp>
#include <redco/run/metrics_log.hpp>
#include <redco/run/progress.hpp>
#include <redco/run/run_log.hpp>
#include <redco/json/value.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redco {

/// What rank 0 writes while training: the bar, metrics.jsonl, TensorBoard events, results files. Failing logs never
/// stop a run; they are counted.
class run_recorder {
 public:
  run_recorder(console& where, run_log& log, std::filesystem::path workdir, std::int64_t steps_done);

  void begin_epoch(int epoch, int epochs, std::int64_t steps, std::int64_t done, std::int64_t run_left);

  void step(fit_event const& e, std::int64_t done_in_epoch, double weight);

  /// An evaluation is no training time.
  void resume_clock() { last_ = clock::now(); }
  void end_epoch() { bar_.finish(); }

  void evaluation(metric_map const& metrics, std::int64_t step, int epoch);

  /// Writes a results file; a failure is a warning.
  void save(std::string const& name, json_value const& results);

  void text(std::string const& tag, std::string const& content, std::int64_t step);

  ~run_recorder();

  double tokens_per_second() const { return total_seconds_ > 0 ? total_weight_ / total_seconds_ : 0; }
  std::int64_t lost() const { return metrics_.lost() + events_.lost(); }

 private:
  using clock = std::chrono::steady_clock;

  std::filesystem::path workdir_;
  run_log& log_;
  progress bar_;
  metrics_log metrics_;
  event_writer events_;
  clock::time_point last_ = clock::now();
  std::int64_t items_ = 0;
  double rate_ = 0, total_weight_ = 0, total_seconds_ = 0;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/run/impl/run_recorder.hpp>
#endif
