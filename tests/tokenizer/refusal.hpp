#pragma once

#include "catch.hpp"

#include <redco/diag/error.hpp>

#include <string>
#include <string_view>

/// Returns the message of the error that `make` throws; empty if it throws none. Checks the exit
/// code of the error.
template <class Make>
std::string refusal(Make const& make, redco::exit_code code = redco::exit_code::data) {
  try {
    make();
    return {};
  } catch (redco::error const& e) {
    CHECK(e.code() == code);
    return e.what();
  }
}

inline bool says(std::string const& sentence, std::string_view words) {
  return sentence.find(words) != std::string::npos;
}
