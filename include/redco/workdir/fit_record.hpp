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

/// A record of a fit for its checkpoints and for the final summary, from the view of rank 0.
struct fit_record {
  /// Id of the run, shared by all its resumptions.
  std::string run = new_run_id();
  std::map<std::string, std::string> settings;  ///< settings of the run by name
  std::int64_t first_step = 0, step = 0, steps = 0;
  int epoch = 0;
  double per_second = 0;
  std::vector<double> losses;                ///< loss of each step of this fit
  std::string unit = "tokens";               ///< unit of `per_second`
  std::vector<std::filesystem::path> files;  ///< written files of results and events
  /// Number of rows of metrics and events that could not be written.
  std::int64_t lost_rows = 0;
  metric_map evaluation;
  std::map<std::string, manifest::best_value> best;
  std::filesystem::path checkpoint;
  int signal = 0;  ///< signal that ended the fit early; 0: none

  /// Reads or writes the record, so that other processes of the run get it.
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
