#include <redco/data/read_text_files.hpp>

#include <redco/diag/error.hpp>

#include "catch.hpp"

#include <string>
#include <vector>

TEST_CASE("windows predict each byte except the first of a file exactly once") {
  std::vector<redco::data::text_file> const files{{"a", "abcdefgh"}, {"b", "x"}, {"c", "0123456"}, {"d", "pq"}};
  auto const windows = redco::text_windows(files, 3);
  REQUIRE(windows == std::vector<std::string>{"abcd", "defg", "gh", "0123", "3456", "pq"});
  REQUIRE_THROWS_AS(redco::text_windows(std::vector<redco::data::text_file>{{"b", "x"}}, 3), redco::error);
}
