#pragma once

#include <redco/diag/exit_code.hpp>

#include <stdexcept>
#include <string>

namespace redco {

/// The exception that all redco functions throw. The message states the mistake, its place, its
/// reason and a remedy. code() is the exit code of a program that does not catch the exception.
class error : public std::runtime_error {
 public:
  error(exit_code code, std::string const& what) : std::runtime_error(what), code_(code) {}
  /// Creates the error of a failure on `rank`. The message begins with the rank ("rank 1: "),
  /// because another rank may rethrow the error.
  error(exit_code code, int rank, std::string const& what)
      : std::runtime_error("rank " + std::to_string(rank) + ": " + what), code_(code), names_rank_(true) {}

  /// Returns an error received from another process, whose message `what` already names the rank.
  static error told(exit_code code, std::string const& what) {
    error made(code, what);
    made.names_rank_ = true;
    return made;
  }

  /// Returns a copy of this error that this process does not print when it ends, because another
  /// process prints the error.
  error told_elsewhere() const {
    error made = *this;
    made.silent_ = true;
    return made;
  }

  exit_code code() const noexcept { return code_; }
  bool names_rank() const noexcept { return names_rank_; }
  bool silent() const noexcept { return silent_; }

 private:
  exit_code code_;
  bool names_rank_ = false;
  bool silent_ = false;
};

}  // namespace redco
