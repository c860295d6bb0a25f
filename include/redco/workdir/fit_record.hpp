#pragma once

#include <redco/workdir/failure_history.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/workdir/run_summary.hpp>
#include <redco/options/fit_options.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace redco::workdir {

/// Returns a new id for a run: 128 random bits as text, such as "0a1b2c3d-...".
inline std::string new_run_id() {
  std::random_device entropy;
  std::string id;
  for (int word = 0; word < 4; ++word) {
    std::uint32_t bits = entropy();
    for (int digit = 0; digit < 8; ++digit, bits >>= 4) id += "0123456789abcdef"[bits & 15];
    if (word < 3) id += '-';
  }
  return id;
}

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

/// Fills `summary` with the record of a fit and the existing files of the workdir. The members
/// `code` and `reason` of the summary must be set already. If the fit failed in a step, adds the
/// failure to `failures`; after a successful run, empties `failures`.
void summarise(run_summary& summary, fit_record const& fit, std::filesystem::path const& workdir,
               failure_history const& failures);

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/fit_record.inl.hpp>
#endif
