#pragma once

#include <redco/options/detail/entry.hpp>
#include <redco/options/resolved.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/fields.hpp>

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::options::detail {

/// Sets the members of the user's struct to which `entries` point: first from the file given by
/// --config, then from flags in `argv`. Members with neither keep their defaults. `about`: first
/// sentence of the help text.
void apply(std::vector<entry>& entries, int argc, char const* const* argv, std::string_view about);

}  // namespace redco::options::detail

namespace redco::options {

/// An exception that the option --help causes. what() is the help text and code() is 0, so that a
/// handler for errors, which prints what() and returns code(), handles --help too.
class help_requested : public error {
 public:
  explicit help_requested(std::string const& text) : error(exit_code::done, text) {}
};

/// Reads the options of a program into the reflected struct `Options`. A flag overrides the JSON
/// file of `--config`, which overrides the default; the last occurrence of a flag counts. A member
/// `n_model_shards` has the flag `--n-model-shards` and the JSON key "n_model_shards". A bool
/// `quiet` has `--quiet` and `--no-quiet`. A list takes all following words. Members of nested
/// structs are options, too. Throws `error` with exit code 64 for invalid options and 65 for an
/// unreadable file. Throws `help_requested` for --help.
template <meta::reflected Options>
resolved<Options> resolve(int argc, char const* const* argv, std::string_view about = {}) {
  Options options{};
  std::vector<detail::entry> entries;
  detail::collect(options, entries);
  detail::apply(entries, argc, argv, about);
  std::vector<row> rows = detail::rows_of(entries);
  return {std::move(options), std::move(rows)};
}

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

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/parse.inl.hpp>
#endif
