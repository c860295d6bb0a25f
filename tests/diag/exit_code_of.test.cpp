#include "catch.hpp"

#include <redco/diag/exit_code_of.hpp>

#include <redco/diag/error.hpp>

#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

struct program_end {
  int code;
  std::string out, error;
};

program_end end_of(std::function<int()> const& program, redco::diag::exception_words words = redco::diag::what_of) {
  std::ostringstream out, error;
  auto* const out_before = std::cout.rdbuf(out.rdbuf());
  auto* const error_before = std::cerr.rdbuf(error.rdbuf());
  int const code = redco::diag::exit_code_of(program, words);
  std::cout.rdbuf(out_before);
  std::cerr.rdbuf(error_before);
  return {code, out.str(), error.str()};
}

}  // namespace

TEST_CASE("a program's return value is its exit code, and an exception becomes one sentence and a code") {
  CHECK(end_of([] { return 7; }).code == 7);
  program_end const io = end_of([]() -> int { throw redco::error(redco::exit_code::io, "the disk is full"); });
  CHECK(io.code == 74);
  CHECK(io.error == "error: the disk is full\n");
  program_end const other = end_of([]() -> int { throw std::runtime_error("broken"); });
  CHECK(other.code == 70);
  CHECK(other.error == "error: broken\n");
  CHECK(end_of([]() -> int { throw 1; }).error == "error: threw something that is not a std::exception\n");
  program_end const help = end_of([]() -> int { throw redco::error(redco::exit_code::done, "usage"); });
  CHECK(help.code == 0);
  CHECK(help.out == "usage\n");
  CHECK(help.error.empty());
}

TEST_CASE("exceptions are reported in the words of their reader, errors of redco in their own words") {
  redco::diag::exception_words const shorter = [](std::exception const&) noexcept { return "in short"; };
  CHECK(end_of([]() -> int { throw std::runtime_error("at length"); }, shorter).error == "error: in short\n");
  CHECK(end_of([]() -> int { throw redco::error(redco::exit_code::data, "no data"); }, shorter).error ==
        "error: no data\n");
}
