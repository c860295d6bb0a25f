#pragma once

#include "catch.hpp"

#include <redco/diag/error.hpp>

#include <string>
#include <string_view>

/// Returns the message of the error 65 that `make` throws; empty if it throws none.
template <class Make>
std::string refusal(Make const& make) {
  try {
    make();
    return {};
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    return e.what();
  }
}

inline bool says(std::string const& sentence, std::string_view words) {
  return sentence.find(words) != std::string::npos;
}
