#pragma once

#include <redco/diag/error.hpp>

#include <string>

/// Returns the exit code and the message of the error that a call throws, "64 no ..."; empty if it
/// throws none.
template <class Call>
std::string refused(Call const& call) {
  try {
    call();
  } catch (redco::error const& e) {
    return std::to_string(static_cast<int>(e.code())) + " " + e.what();
  }
  return "";
}
