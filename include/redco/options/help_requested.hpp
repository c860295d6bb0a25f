#pragma once

#include <redco/diag/error.hpp>

#include <string>

namespace redco::options {

/// An exception that the option --help causes. what() is the help text and code() is 0, so that a
/// handler for errors, which prints what() and returns code(), handles --help too.
class help_requested : public error {
 public:
  explicit help_requested(std::string const& text) : error(exit_code::done, text) {}
};

}  // namespace redco::options
