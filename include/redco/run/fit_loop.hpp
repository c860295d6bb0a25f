#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/evaluation.hpp>
#include <redco/run/fit_job.hpp>
#include <redco/run/fit_result.hpp>
#include <redco/run/fit_saves.hpp>
#include <redco/run/fit_work.hpp>
#include <redco/run/loop_record.hpp>
#include <redco/run/network_state.hpp>
#include <redco/run/patient_saves.hpp>
#include <redco/run/run_state.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/comm/replica_round.hpp>
#include <redco/workdir/find_checkpoint.hpp>
#include <redco/workdir/run_recorder.hpp>
#include <redco/options/fit_settings.hpp>
#include <redco/data/batches.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace redco::run {

/// The training loop of one rank in a fit. All ranks take the same decisions, because they decide
/// by equal numbers. Rank 0 alone writes files, and at the end sends the result of the fit to all
/// ranks. Objects that the constructor takes by reference must outlive the loop.
class fit_loop {
 public:
  fit_loop(deployer& where, rank_context& rank, network_state& network, fit_job& job,
           options::fit_settings const& settings, std::function<void()> const& load_start, fit_report& report);
  fit_loop(fit_loop const&) = delete;
  fit_loop& operator=(fit_loop const&) = delete;
  ~fit_loop() { note_files(); }

  /// Adds a user's object to the checkpoints of the fit, under a name. The object is one per
  /// process.
  void keep(std::string const& name, run_state::kept_object object);

  void run();

 private:
  bool first() const { return rank_.rank == 0; }
  std::int64_t step() const { return state_.step(); }
  int replicas() const { return rank_.mesh.size(shape::batch_axes); }
  bool finished() const;
  bool ended() const { return preempted_ || out_of_patience_ || finished(); }
  evaluation_settings settings_of_evaluation() const;
  /// Returns the epoch of the last step before position `at` in the data. For a position at the
  /// start of an epoch, this is the preceding epoch.
  static int run_epoch_of(data::data_position const& at) {
    return static_cast<int>(at.position == 0 && at.epoch > 0 ? at.epoch - 1 : at.epoch);
  }

  void train();
  void share_result();
  void note_files();
  void set_length(std::int64_t examples);
  std::int64_t begin_epoch(std::int64_t epoch);
  void start();
  void describe_start();
  void resume(workdir::found_checkpoint const& found);
  /// Evaluates a few examples before training, so that a mistake in the user's evaluation shows at
  /// once rather than after hours of training.
  void sanity_check() { measured(std::min<std::int64_t>(options_.eval_size, replicas()), false, false); }
  options::metric_map measured(std::int64_t examples, bool warns = false, bool may_stop = true);
  void run_epoch();
  void after_step(int epoch);
  void run_step(computed_batches& source, data::batch_step const& at, int epoch, std::int64_t done_in_epoch);
  void end_measure();
  std::optional<options::metric_map> evaluate(int epoch);
  std::vector<std::string> update_best(options::metric_map const& metrics);
  void save(std::vector<std::string> const& names, fit_saves::circumstances const& when = {}) {
    saves_.save({position_, length_.examples}, names, when);
  }
  void restore_best();

  deployer& where_;
  rank_context& rank_;
  network_state& network_;
  run_state state_;
  fit_job& job_;
  options::fit_settings const& options_;
  /// Function that loads starting weights into the network, if the run does not resume from a
  /// checkpoint.
  std::function<void()> const& load_start_;
  fit_report& report_;
  /// Writer of metrics and events on rank 0; empty on other ranks.
  std::optional<workdir::run_recorder> recorder_;
  fit_saves saves_;
  weight_watch weights_;
  step_measure measure_;
  std::optional<step_graphs> graphs_;
  options::run_length length_;
  data::data_position position_;
  bool preempted_ = false, out_of_patience_ = false;
  bool evaluation_stopped_ = false;  ///< true if a signal ended the run in an evaluation
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/fit_loop.inl.hpp>
#endif
