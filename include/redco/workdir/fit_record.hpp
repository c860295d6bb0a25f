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

/// A record of a fit on rank 0, for its checkpoints and for the summary at the program's end.
struct fit_record {
  /// Id of the run; a resumed run keeps its id.
  std::string run = new_run_id();
  std::map<std::string, std::string> settings;  ///< settings of the run by name
  std::int64_t first_step = 0, step = 0, steps = 0;
  int epoch = 0;
  double per_second = 0;
  std::vector<double> losses;                ///< loss of each step of this fit
  std::string unit = "tokens";               ///< unit of `per_second`
  std::vector<std::filesystem::path> files;  ///< paths of the written result files and event files
  /// Number of rows of metrics and number of events that could not be written, added up.
  std::int64_t lost_rows = 0;
  options::metric_map evaluation;
  std::map<std::string, manifest::best_value> best;
  std::filesystem::path checkpoint;
  int signal = 0;  ///< number of the signal that ended the fit early, or 0

  /// Converts the record to bytes or back with cereal, because rank 0 sends it to other processes.
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
