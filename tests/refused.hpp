#pragma once

#include <redco/diag/error.hpp>

#include <string>

/// The exit code and the sentence of the error with which a call ends, "64 no ..."; empty where it does not.
template <class Call>
std::string refused(Call const& call) {
  try {
    call();
  } catch (redco::error const& e) {
    return std::to_string(static_cast<int>(e.code())) + " " + e.what();
  }
  return "";
}
