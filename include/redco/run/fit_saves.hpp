#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/fit_job.hpp>
#include <redco/run/fit_result.hpp>
#include <redco/run/patient_saves.hpp>
#include <redco/run/run_state.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/workdir/best_metrics.hpp>
#include <redco/workdir/find_checkpoint.hpp>
#include <redco/workdir/run_recorder.hpp>
#include <redco/options/fit_settings.hpp>
#include <redco/data/batches.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace redco::run {

/// The checkpoints of a fit on one rank, and the best metrics that they record. All ranks call the
/// members in the same order. Objects that the constructor takes by reference must outlive it.
class fit_saves {
 public:
  /// The position of a fit in its data, and the number of examples of the epoch.
  struct data_state {
    data::data_position at;
    std::int64_t examples = 0;
  };
  /// Circumstances of a save. `last`: no later save can replace this one. `before_evaluation`: an
  /// evaluation of this step follows, and older checkpoints stay until it has ended.
  struct circumstances {
    bool last = false, before_evaluation = false;
  };

  /// `recorder`: writer of metrics on rank 0; empty on other ranks.
  fit_saves(deployer& where, rank_context& rank, run_state& state, fit_job& job, options::fit_settings const& settings,
            fit_report& report, std::optional<workdir::run_recorder>& recorder);

  /// Continues from a loaded checkpoint. `best`: best values in it whose checkpoints exist.
  void resume(workdir::found_checkpoint const& found, workdir::best_metrics::table const& best);

  /// Saves a checkpoint of this step under `names`. If the step is saved already, only changes its
  /// manifest and links. If the disk fails, training continues with the older checkpoints, as
  /// patient_saves says.
  void save(data_state const& data, std::vector<std::string> const& names, circumstances const& when);

  /// Renames the checkpoint of this step to `.older-*`, if there is one, because its evaluation is
  /// not finite.
  void set_aside();

  /// Returns digests of the examples on rank 0. Logs once what a resumed run cannot compare.
  std::map<std::string, std::string> digests();

  workdir::best_metrics& best() { return best_; }
  /// Returns the best values in the newest checkpoint.
  workdir::best_metrics::table const& saved_best() const { return saved_best_; }

  /// True while the evaluation and saving that are due after the last step have not ended. A
  /// resumed run starts with them.
  bool interrupted = false;

 private:
  bool first() const { return rank_.rank == 0; }
  workdir::save_options facts(data_state const& data, std::vector<std::string> const& names);

  deployer& where_;
  rank_context& rank_;
  run_state& state_;
  fit_job& job_;
  options::fit_settings const& options_;
  fit_report& report_;
  std::optional<workdir::run_recorder>& recorder_;
  workdir::best_metrics best_;
  workdir::best_metrics::table saved_best_;
  bool saved_interrupted_ = false;  ///< value of `interrupted` in the newest checkpoint
  patient_saves attempts_;
  std::set<std::string> notes_;  ///< sentences about the digests of examples, each logged once
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/fit_saves.inl.hpp>
#endif
