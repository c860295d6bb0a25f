#pragma once

#include "catch.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

/// Call before returning from a test case that lacks something outside the repository. Prints
/// `why`, so that ctest shows a skip. In CI (CI=true), where scripts/setup --tests has installed
/// everything, fails instead.
inline void skip(std::string const& why) {
  char const* const ci = std::getenv("CI");
  if (ci != nullptr && std::string_view(ci) == "true") FAIL("CI lacks what this test needs: " << why);
  WARN("skipped: " << why);
}
