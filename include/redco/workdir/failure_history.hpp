#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace redco::workdir {

/// The failures of the runs in a workdir since one was done, in the text file `failures.log`: a line `<step> <reason>`
/// each. last_words appends to it too.
class failure_history {
 public:
  explicit failure_history(std::filesystem::path const& workdir) : file_(workdir / "failures.log") {}

  std::filesystem::path const& file() const { return file_; }

  /// A run failed in update number `step`, counted from 1. What cannot be written is left out.
  void add(std::int64_t step, std::string const& reason) const;

  /// The run is done.
  void clear() const;

  /// What to tell when a run begins: a sentence where the last two or more failed at the same step, else nothing.
  std::string repeated() const;

 private:
  std::filesystem::path file_;
};

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/failure_history.inl.hpp>
#endif
