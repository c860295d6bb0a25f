#include <redco/data/read_texts.hpp>

#include <redco/diag/error.hpp>

#include "catch.hpp"

#include <string>
#include <vector>

TEST_CASE("at least one file is held out, and held-out files are spread over the list") {
  std::vector<redco::data::text_file> files;
  for (int i = 0; i < 45; ++i) files.push_back({std::to_string(i), "text"});
  auto const split = redco::hold_out(files, 20);
  REQUIRE(split.train.size() == 43);
  REQUIRE(split.held_out.size() == 2);
  REQUIRE(split.held_out[0].path == "10");
  REQUIRE(split.held_out[1].path == "30");
  files.resize(2);
  REQUIRE(redco::hold_out(files, 20).held_out.at(0).path == "1");
  REQUIRE(redco::hold_out(files, 20).train.size() == 1);
}

TEST_CASE("the end of a single file is held out") {
  auto const split = redco::hold_out({{"a", "0123456789"}}, 4);
  REQUIRE(split.train.at(0).text == "0123456");
  REQUIRE(split.held_out.at(0).text == "789");
  REQUIRE_THROWS_AS(redco::hold_out({{"a", "0"}}, 4), redco::error);
  REQUIRE_THROWS_AS(redco::hold_out({}, 4), redco::error);
}
