#pragma once

#include <redco/diag/error.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace redco::workdir {

/// A list of the failed runs in a workdir since the last successful run: the text file
/// `failures.log` with one line `<step> <reason>` per failure. The function crash_report() also
/// appends to the file. A second file, `starts.log`, counts the starts in a row that have ended
/// before their first step, also without a message.
class failure_history {
 public:
  explicit failure_history(std::filesystem::path const& workdir)
      : file_(workdir / "failures.log"), starts_(workdir / "starts.log") {}

  std::filesystem::path const& file() const { return file_; }

  /// Appends a failure in step number `step`, counted from 1. Ignores errors of writing.
  void add(std::int64_t step, std::string const& reason) const;

  /// Empties the list of failed runs. Call it after a successful run.
  void clear() const;

  /// Returns a warning for the start of a run if the last two or more runs failed in the same step,
  /// else an empty text.
  std::string repeated() const;

  /// Records a start of the run. Returns a warning if the last three or more starts have ended
  /// before their first step, else an empty text. Ignores errors of writing.
  std::string begin_start() const;

  /// Records the end of a start before its first step. Returns a line for the summary if three or
  /// more starts in a row have ended so. An end by a signal does not count. Does nothing after
  /// forget_starts().
  std::string end_start(exit_code code, std::string const& reason) const;

  /// Sets the number of starts to 0. Call it after the first step.
  void forget_starts() const;

 private:
  std::filesystem::path file_, starts_;
};

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/failure_history.inl.hpp>
#endif
