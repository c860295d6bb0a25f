#pragma once

#include <redco/options/launch.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace redco::options {

namespace detail {

/// The number from `least` to `most` under this name.
inline int launch_number(std::function<char const*(char const*)> const& environment, char const* name, int least,
                         int most) {
  char const* const given = environment(name);
  std::string_view const text = given != nullptr ? given : "";
  int value = 0;
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failure != std::errc() || end != text.data() + text.size() || value < least || value > most)
    throw error(exit_code::usage, std::string("the launcher's variable ") + name +
                                      (given != nullptr ? "=" + std::string(text) : " is missing") +
                                      ": a number from " + std::to_string(least) + " to " + std::to_string(most) +
                                      " is meant; start the program by mpirun, or without these variables");
  return value;
}

}  // namespace detail

REDCO_INLINE launch launch_of(std::function<char const*(char const*)> const& environment) {
  struct names {
    char const *size, *process, *here;
  };
  constexpr int most = 1'000'000;
  for (names const& of : {names{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                          names{"PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS"}}) {
    if (environment(of.size) == nullptr) continue;
    launch one;
    one.processes = detail::launch_number(environment, of.size, 1, most);
    one.process = detail::launch_number(environment, of.process, 0, one.processes - 1);
    one.here = detail::launch_number(environment, of.here, 1, one.processes);
    one.by = "mpirun";
    return one;
  }
  return {};
}

REDCO_INLINE launch const& launched() {
  static launch const one = launch_of([](char const* name) { return static_cast<char const*>(std::getenv(name)); });
  return one;
}

}  // namespace redco::options
