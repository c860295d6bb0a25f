#pragma once

#include <redco/report/run_page.hpp>
#include <redco/workdir/run_summary.hpp>
#include <redco/log/console.hpp>
#include <redco/log/event_writer.hpp>
#include <redco/log/run_log.hpp>

#include <redco/diag/error.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace redco::run {

/// The visible output of a program's runs: the console, the log, the page of the run, and the
/// summary of the last fit.
struct run_output {
  /// Opens console and log. `speaks_here`: false if another process prints the output of the run;
  /// then nothing is printed.
  explicit run_output(bool quiet, bool speaks_here = true)
      : speaks(speaks_here),
        console(speaks ? log::standard_console(quiet) : log::console_options{.out = nullptr}),
        log(console) {}

  bool speaks;  ///< true if this process prints the run's output
  redco::log::console console;
  redco::log::run_log log;
  /// Summary of the last fit; empty before a fit
  std::optional<workdir::run_summary> summary = {};
  /// Working directory of the run; empty before the run has claimed it
  std::filesystem::path workdir = {};
  /// Writer of the images of deployer::keep_images; empty before the first call
  std::optional<redco::log::event_writer> images = {};
  /// Facts of the run for its page, report.html
  report::run_facts facts = {};
  bool began = false;  ///< true after a run has accepted its checkpoint and data

  /// Writes report.html for a run that has not ended. Does nothing before 20 times the time has
  /// passed that the last writing took, so that pages cost a run at most 5% of its time.
  void write_page();

  /// Writes report.html for a run that has ended with the state in `summary`. If the run has not
  /// begun, leaves the page of an earlier run.
  void write_last_page();

 private:
  void write_page(std::optional<workdir::run_summary> const& end);

  std::chrono::steady_clock::time_point next_page_ = {};
};

/// Keeps a run's output alive until the program's end, because the summary is printed after the
/// deployer (owner of the output) is destroyed.
void keep_for_summary(std::shared_ptr<run_output> output);

/// Prints the summary of the program's last fit on standard output, if there was a fit. `main_of`
/// calls it. A program without `main_of` calls it itself, with its exit code and the message of its
/// error.
void tell_end(exit_code code, std::string const& reason = {});

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/run_output.inl.hpp>
#endif
