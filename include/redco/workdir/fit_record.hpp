#pragma once

#include <redco/workdir/manifest.hpp>
#include <redco/workdir/new_run_id.hpp>
#include <redco/options/fit_options.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace redco::workdir {

/// What a fit tells of itself, for its checkpoints and for the end summary: as rank 0 sees it.
struct fit_record {
  std::string run = new_run_id();               ///< one id for a run and all its resumptions
  std::map<std::string, std::string> settings;  ///< what the run was told
  std::int64_t first_step = 0, step = 0, steps = 0;
  int epoch = 0;
  double per_second = 0;
  std::vector<double> losses;                ///< of each step of this fit
  std::string unit = "tokens";               ///< what is counted per second
  std::vector<std::filesystem::path> files;  ///< results and events that were written
  std::int64_t lost_rows = 0;                ///< of metrics and events
  metric_map evaluation;
  std::map<std::string, manifest::best_value> best;
  std::filesystem::path checkpoint;
  int signal = 0;  ///< that ended it, with work left; 0: none

  /// For the other processes of the run.
  template <class Archive>
  void serialize(Archive& archive) {
    std::string newest = checkpoint.string();
    std::vector<std::string> written;
    for (auto const& file : files) written.push_back(file.string());
    archive(run, settings, first_step, step, steps, epoch, per_second, losses, unit, written, lost_rows, evaluation,
            best, newest, signal);
    checkpoint = newest;
    files.assign(written.begin(), written.end());
  }

  void started(std::int64_t after_step, int in_epoch) {
    first_step = step = after_step;
    epoch = in_epoch;
  }

  void after_step(fit_event const& e, double rate) {
    step = e.step;
    epoch = e.epoch;
    losses.push_back(e.loss);
    per_second = rate;
  }
};

}  // namespace redco::workdir
