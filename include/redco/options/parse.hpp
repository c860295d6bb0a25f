#pragma once

#include <redco/options/resolve.hpp>
#include <redco/options/resolved.hpp>

#include <redco/diag/error.hpp>
#include <redco/meta/fields.hpp>

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace redco::options {

/// Reads the options of a program from its command line and returns their values. `resolve` has the
/// rules and exceptions, and also returns the source of each value.
template <meta::reflected Options>
Options parse(int argc, char const* const* argv, std::string_view about = {}) {
  return resolve<Options>(argc, argv, about).values;
}

/// Returns `resolve(argc, argv, about)`, for use in the first line of main. For --help, prints the
/// help and exits with code 0. For an error, prints the message to standard error and exits with
/// the error's code.
template <meta::reflected Options>
resolved<Options> parse_or_exit(int argc, char const* const* argv, std::string_view about = {}) {
  try {
    return resolve<Options>(argc, argv, about);
  } catch (error const& e) {
    (e.code() == exit_code::done ? std::cout : std::cerr) << e.what() << std::endl;
    std::exit(static_cast<int>(e.code()));
  }
}

}  // namespace redco::options
