#include "catch.hpp"

#include <redco/json/dump.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <cstdint>
#include <limits>
#include <string>

TEST_CASE("a line is one object with its members in the order of insertion") {
  redco::json::json_line line;
  CHECK(line.text() == "{}");
  line.add("step", std::int64_t{9007199254740993});
  line.add("rate", 3e-4);
  line.add("whole", 1200.0);
  line.add("nothing", std::numeric_limits<double>::quiet_NaN());
  line.add_text("list", "[1,2]");
  CHECK(line.text() == R"({"step":9007199254740993,"rate":3e-04,"whole":1200,"nothing":null,"list":[1,2]})");
  CHECK(redco::json::parse_json(line.text(), "line")["step"] == 9007199254740993);
}

TEST_CASE("names of a line are quoted, with any bytes") {
  redco::json::json_line line;
  line.add("a\"b\\c\nd\x01 é \xFF", 0);
  CHECK(line.text() == "{\"a\\\"b\\\\c\\nd\\u0001 é \xEF\xBF\xBD\":0}");
}
