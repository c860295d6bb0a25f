#include <redco/json/dump.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <redco/diag/error.hpp>

#include "catch.hpp"
#include "temporary_folder.hpp"

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
