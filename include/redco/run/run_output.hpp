#pragma once

#include <redco/workdir/run_summary.hpp>
#include <redco/log/console.hpp>
#include <redco/log/run_log.hpp>

#include <redco/diag/error.hpp>

#include <memory>
#include <optional>
#include <string>

namespace redco::run {

/// The visible output of a program's runs: the console, the log, and the summary of the last fit.
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
