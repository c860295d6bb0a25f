#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace redco::workdir {

/// A record of the failed runs in a working directory since the last successful run. The text file
/// `failures.log` has a line `<step> <reason>` for each. The function last_words() appends to the
/// file too.
class failure_history {
 public:
  explicit failure_history(std::filesystem::path const& workdir) : file_(workdir / "failures.log") {}

  std::filesystem::path const& file() const { return file_; }

  /// Records that a run failed in update number `step`, counted from 1. Ignores write errors.
  void add(std::int64_t step, std::string const& reason) const;

  /// Empties the record. Call after a successful run.
  void clear() const;

  /// Returns a sentence for the start of a run if the last two or more runs failed at the same
  /// step, else an empty text.
  std::string repeated() const;

 private:
  std::filesystem::path file_;
};

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/failure_history.inl.hpp>
#endif
