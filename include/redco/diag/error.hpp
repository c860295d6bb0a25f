#pragma once

#include <stdexcept>
#include <string>

namespace redco {

/// Exit code of a program that uses redco. Codes that sysexits.h defines have the meanings given
/// there.
enum class exit_code : int {
  done = 0,         ///< Exit code of a program that completed its work
  missed = 1,       ///< Exit code if a quality requested by the user was not reached
  usage = 64,       ///< Exit code if command-line options or the mesh are invalid
  data = 65,        ///< Exit code if data or a checkpoint is missing or has invalid content
  peer_lost = 69,   ///< Exit code if another rank ended or does not answer
  internal = 70,    ///< Exit code of an exception in user code or in the library
  io = 74,          ///< Exit code if reading or writing a file failed
  preempted = 75,   ///< Exit code if the state was saved after a signal: requeue the job
  rendezvous = 76,  ///< Exit code if the ranks could not connect to each other at the start
  not_finite = 79,  ///< Exit code if the loss, a gradient or a parameter is NaN or infinite
};

/// The exception that all redco functions throw. The message states the mistake, its location, its
/// reason and a remedy. code() is the exit code of a program that does not catch the exception.
class error : public std::runtime_error {
 public:
  /// Creates an error with `message`.
  error(exit_code code, std::string const& message) : std::runtime_error(message), code_(code) {}
  /// Creates the error of a failure on `rank`. The text is `message` after the rank ("rank 1: "),
  /// because another rank may rethrow the error.
  error(exit_code code, int rank, std::string const& message)
      : std::runtime_error("rank " + std::to_string(rank) + ": " + message), code_(code), names_rank_(true) {}

  /// Returns an error received from another process, whose `message` already names the rank.
  static error received(exit_code code, std::string const& message) {
    error made(code, message);
    made.names_rank_ = true;
    return made;
  }

  /// Returns a copy of this error that this process does not print when it ends, because another
  /// process prints the error.
  error silenced() const {
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
