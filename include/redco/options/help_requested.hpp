#pragma once

#include <redco/diag/error.hpp>

#include <string>

namespace redco::options {

/// Thrown when the command line asks for help: what() is the text to print, code() is exit_code::done, so that a
/// handler of redco::error that prints and returns the code does the right thing.
class help_requested : public error {
 public:
  explicit help_requested(std::string const& text) : error(exit_code::done, text) {}
};

}  // namespace redco::options
