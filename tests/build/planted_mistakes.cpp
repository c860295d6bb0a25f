// Cases that fail in every way in which a test can fail while scripts/mutants plants a mistake.
// mutants.py checks the verdict on each.

#include "catch.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace {

int sum(int a, int b) {
  if (std::getenv("REDCO_MUTANT") == std::string("1")) return a - b;
  return a + b;
}

}  // namespace

TEST_CASE("an assertion") { CHECK(sum(2, 3) == 5); }

TEST_CASE("an assertion whose expression throws") {
  auto const thrown = [] { return sum(2, 3) == 5 ? 5 : throw std::runtime_error("no sum"); };
  CHECK(thrown() == 5);
}

TEST_CASE("a rank's assertion") {
  if (sum(2, 3) != 5) throw std::runtime_error("does not hold: the sum");
}

TEST_CASE("an exception") {
  if (sum(2, 3) != 5) throw std::runtime_error("of two\nlines");
  SUCCEED();
}

TEST_CASE("an exception after an assertion") {
  CHECK(sum(2, 3) > -9);
  if (sum(2, 3) != 5) throw std::runtime_error("no sum");
}

TEST_CASE("a crash") {
  CHECK(sum(2, 3) > -9);
  if (sum(2, 3) != 5) std::raise(SIGSEGV);
}

TEST_CASE("a hang") {
  CHECK(sum(2, 3) > -9);
  if (sum(2, 3) != 5) ::pause();
}

// Both functions count their calls in the file that REDCO_CALLS names.
int calls() {
  std::filesystem::path const file = std::getenv("REDCO_CALLS");
  std::ofstream(file, std::ios::app) << 'x';
  return static_cast<int>(std::filesystem::file_size(file));
}

TEST_CASE("a flake that fails the first two calls") { CHECK(calls() > 2); }

TEST_CASE("a flake that fails the first call") { CHECK(calls() > 1); }

TEST_CASE("no look at the mistake") { CHECK(2 + 3 == 5); }
