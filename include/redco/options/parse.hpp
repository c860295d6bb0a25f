#pragma once

#include <redco/options/resolve.hpp>
#include <redco/options/resolved.hpp>

#include <redco/diag/error.hpp>
#include <redco/meta/fields.hpp>

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace redco::options {

/// The options of a program as plain values; see `resolve`, which also tells where each came from, and for what is
/// thrown.
template <reflected Options>
Options parse(int argc, char const* const* argv, std::string_view about = {}) {
  return resolve<Options>(argc, argv, about).values;
}

/// `resolve` for the first line of main: prints the help to standard output, or the error to standard error, and exits
/// with the code.
template <reflected Options>
resolved<Options> parse_or_exit(int argc, char const* const* argv, std::string_view about = {}) {
  try {
    return resolve<Options>(argc, argv, about);
  } catch (error const& e) {
    (e.code() == exit_code::done ? std::cout : std::cerr) << e.what() << std::endl;
    std::exit(static_cast<int>(e.code()));
  }
}

}  // namespace redco::options
