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

  exit_code code() const noexcept { return code_; }

 private:
  exit_code code_;
};

}  // namespace redco
