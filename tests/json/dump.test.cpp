#include "catch.hpp"
#include "temporary_folder.hpp"

#include <redco/json/dump.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <sys/stat.h>

namespace {

bool reading_fails_with(std::filesystem::path const& path, std::string const& part,
                        redco::json::json_limits limits = {}) {
  try {
    redco::json::read_json(path, limits);
    return false;
  } catch (redco::error const& e) {
    INFO(e.what());
    CHECK(e.code() == redco::exit_code::data);
    return std::string(e.what()).find(part) != std::string::npos;
  }
}

}  // namespace

TEST_CASE("a dumped value is parsed back to an equal value") {
  redco::json::json_value value;
  value["step"] = 1200;
  value["loss"] = 2.3100000000000001;
  value["tiny"] = 4.9406564584124654e-324;
  value["names"] = {"a", "é", "\"quoted\"\n"};
  value["none"] = nullptr;
  CHECK(redco::json::parse_json(redco::json::dump_json(value), "x") == value);
  CHECK(redco::json::parse_json(redco::json::dump_json(value, 2), "x") == value);
  CHECK(redco::json::dump_json(redco::json::json_value{{"b", 1}, {"a", 0.1}}) == R"({"b":1,"a":0.1})");
  CHECK(redco::json::dump_json(redco::json::json_value{{"b", 1}}, 2) == "{\n  \"b\": 1\n}");
}

TEST_CASE("a value that JSON cannot represent is refused") {
  CHECK_THROWS_AS(redco::json::dump_json(std::numeric_limits<double>::quiet_NaN()), redco::error);
  CHECK_THROWS_AS(redco::json::dump_json({{"a", {1.5, -std::numeric_limits<double>::infinity()}}}), redco::error);
  CHECK_THROWS_AS(redco::json::dump_json("\xFF"), redco::error);
}

TEST_CASE("a file is read completely, and a missing or refused file is named") {
  temporary_folder const folder;
  auto const path = folder.path / "redco json dump test.json";
  std::ofstream(path) << R"({"epochs": 3})";
  CHECK(redco::json::read_json(path)["epochs"] == 3);
  CHECK(reading_fails_with(path, "more than the 5 allowed", {.bytes = 5}));
  std::ofstream(path) << R"({"epochs": 3,})";
  CHECK(reading_fails_with(path, "redco json dump test.json:1:"));
  std::filesystem::remove(path);
  CHECK(reading_fails_with(path, "No such file"));
  CHECK(reading_fails_with(std::filesystem::temp_directory_path(), "not a regular file"));
  CHECK(reading_fails_with("/dev/zero", "not a regular file"));
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK(reading_fails_with(path, "not a regular file"));
}

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
