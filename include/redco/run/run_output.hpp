#pragma once

#include <redco/workdir/run_summary.hpp>
#include <redco/log/console.hpp>
#include <redco/log/run_log.hpp>

#include <redco/diag/exit_code.hpp>

#include <memory>
#include <optional>
#include <string>

namespace redco::run {

/// What a program shows of its runs: the console, the log, and how the last fit ended.
struct run_output {
  /// `speaks_here` is false where another process of the run shows it.
  explicit run_output(bool quiet, bool speaks_here = true)
      : speaks(speaks_here),
        console(speaks ? log::standard_console(quiet) : log::console_options{.out = nullptr}),
        log(console) {}

  bool speaks;  ///< this process shows the run
  redco::log::console console;
  redco::log::run_log log;
  std::optional<workdir::run_summary> summary = {};  ///< empty before a fit
};

/// Makes these the output whose end is told: they outlive their deployer, as the end comes when all that ran is gone.
void keep_for_end(std::shared_ptr<run_output> output);

/// Prints on standard output how the program's last fit ended, if there was one. `main_of` calls
/// it; a program without `main_of` calls it with the exit code that it ends with and the message of
/// its error.
void tell_end(exit_code code, std::string const& reason = {});

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/run_output.inl.hpp>
#endif
