#pragma once

#include <redco/diag/exit_code.hpp>

#include <stdexcept>
#include <string>

namespace redco {

/// What every redco function throws: a sentence that says what, where, why and one thing to do, and the exit code of
/// the program that lets it escape.
class error : public std::runtime_error {
 public:
  error(exit_code code, std::string const& what) : std::runtime_error(what), code_(code) {}
  /// A failure of `rank` that may be thrown by others: the text is "rank 1: what".
  error(exit_code code, int rank, std::string const& what)
      : std::runtime_error("rank " + std::to_string(rank) + ": " + what), code_(code), names_rank_(true) {}

  /// A failure of a rank as another process tells it: the text has its name.
  static error told(exit_code code, std::string const& what) {
    error made(code, what);
    made.names_rank_ = true;
    return made;
  }

  /// The same where another process prints it: this one ends in silence.
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
