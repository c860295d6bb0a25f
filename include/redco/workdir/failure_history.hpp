#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace redco::workdir {

/// A list of the failed runs in a workdir since the last successful run: the text file
/// `failures.log` with one line `<step> <reason>` per failure. The function crash_report() also
/// appends to the file.
class failure_history {
 public:
  explicit failure_history(std::filesystem::path const& workdir) : file_(workdir / "failures.log") {}

  std::filesystem::path const& file() const { return file_; }

  /// Appends a failure in step number `step`, counted from 1. Ignores errors of writing.
  void add(std::int64_t step, std::string const& reason) const;

  /// Empties the list of failed runs. Call it after a successful run.
  void clear() const;

  /// Returns a warning for the start of a run if the last two or more runs failed in the same step,
  /// else an empty text.
  std::string repeated() const;

 private:
  std::filesystem::path file_;
};

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/failure_history.inl.hpp>
#endif
