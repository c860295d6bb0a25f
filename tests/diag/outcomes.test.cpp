#include "catch.hpp"

#include <redco/diag/outcomes.hpp>

#include <stdexcept>
#include <string>

namespace {

std::string work() { return "-1 its text"; }
std::string full() { throw redco::error(redco::exit_code::io, "the disk is full"); }
std::string broken() { throw std::runtime_error("broken"); }

}  // namespace

TEST_CASE("ranks report texts of any content, or the failure of the first failed rank") {
  using redco::diag::outcomes_of, redco::diag::outcome_text;
  auto const well = outcomes_of({outcome_text(work), outcome_text([] { return std::string(); })});
  CHECK_FALSE(well.failure);
  CHECK(well.texts == std::vector<std::string>{"-1 its text", ""});
  auto const two = outcomes_of({outcome_text(work), outcome_text(full), outcome_text(broken)});
  REQUIRE(two.failure);
  CHECK(two.failure->code() == redco::exit_code::io);
  CHECK(std::string(two.failure->what()) == "rank 1: the disk is full");
  CHECK(two.texts.front() == "-1 its text");
  auto const alone = outcomes_of({outcome_text(broken)});
  REQUIRE(alone.failure);
  CHECK(alone.failure->code() == redco::exit_code::internal);
  CHECK(std::string(alone.failure->what()) == "broken");
}
