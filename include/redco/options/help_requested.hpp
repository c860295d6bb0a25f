#pragma once

#include <redco/diag/error.hpp>

#include <string>

namespace redco::options {

/// The exception that --help causes. what() is the help text and code() is 0, so a handler that
/// prints the message and returns the code also works for --help.
class help_requested : public error {
 public:
  explicit help_requested(std::string const& text) : error(exit_code::done, text) {}
};

}  // namespace redco::options
