#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <redco/diag/error.hpp>

#include "catch.hpp"
#include "processor_time.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace {

std::string refusal(std::string const& text, redco::json::json_limits limits = {}) {
  try {
    auto const value = redco::json::parse_json(text, "in.json", limits);
    return "accepted: " + value.dump();
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    return e.what();
  }
}

bool refused(std::string const& text, redco::json::json_limits limits = {}) {
  std::string const message = refusal(text, limits);
  INFO(message);
  return message.starts_with("in.json:");
}

bool contains(std::string const& text, std::string const& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a text of every kind of value is read in order") {
  auto const v = redco::json::parse_json(
      R"( {"z": [1, -2, 3.5, 4.0, true, null, {}], "a": {"k": "é\n\u0041"}, "": []} )", "in.json");
  CHECK(v.dump() == R"({"z":[1,-2,3.5,4.0,true,null,{}],"a":{"k":"é\nA"},"":[]})");
  CHECK(v["z"][0].is_number_unsigned());
  CHECK(v["z"][1].is_number_integer());
  CHECK(v["z"][3].is_number_float());
  CHECK(redco::json::parse_json("17", "in.json") == 17);
  CHECK(redco::json::parse_json("\xEF\xBB\xBF[2]", "in.json").dump() == "[2]");
}

TEST_CASE("integers keep all 64 bits, and larger numbers are not readable as integers") {
  CHECK(redco::json::parse_json("18446744073709551615", "in.json").get<std::uint64_t>() ==
        std::numeric_limits<std::uint64_t>::max());
  CHECK(redco::json::parse_json("-9223372036854775808", "in.json").get<std::int64_t>() ==
        std::numeric_limits<std::int64_t>::min());
  for (std::string const text : {"18446744073709551616", "-9223372036854775809", "1000000000000000019884624838656"}) {
    redco::json::json_value const wide = redco::json::parse_json(text, "in.json");
    CHECK_FALSE(wide.is_number_integer());
    CHECK(wide.get<double>() == std::stod(text));
  }
  CHECK(refused("1" + std::string(400, '0')));  // does not fit into a double either
  CHECK(refused("1e999"));
  CHECK(refused("NaN"));
  CHECK(refused("012"));
  CHECK(redco::json::parse_json("1e3", "in.json").is_number_float());
}

TEST_CASE("a repeated key in one object is refused with its position; equal keys in two objects are accepted") {
  std::string const message = refusal("{\"a\": 1,\n  \"bc\": 2, \"bc\": 3}");
  CHECK(contains(message, "in.json:2:16: the key \"bc\" appears twice"));
  CHECK(refused(R"({"a":{"b":1,"b":1}})"));
  CHECK(refused(R"({"a":1,"\u0061":2})"));
  CHECK(redco::json::parse_json(R"([{"a":1},{"a":{"a":2}}])", "in.json").size() == 2);
}

TEST_CASE("text that is not one JSON value is refused with line and column") {
  CHECK(contains(refusal("{\"a\": 1,\n \"b\" 2}"), "in.json:2:"));
  for (std::string const text : {"", " ", "{", "[1,]", "{} x", "[1] // no", "{'a':1}", "\"\xFF\"", "\"\xC0\xAF\"",
                                 "\"\\ud800\"", "{\"a\":1}}", "tru", "\"a\nb\"", "[1 2]"}) {
    INFO(text);
    CHECK(refused(text));
  }
}

TEST_CASE("NUL is refused between values, in strings, in keys and after the text") {
  CHECK(refused(std::string("{}\0garbage", 10)));
  CHECK(refused(std::string("[1,\0 2]", 7)));
  CHECK(refused(R"(["a\u0000b"])"));
  CHECK(refused(R"({"a\u0000b":1})"));
}

TEST_CASE("size, depth and number of values have limits") {
  CHECK(contains(refusal(std::string(65, '[') + std::string(65, ']')), "nest deeper than 64"));
  CHECK(redco::json::parse_json(std::string(64, '[') + std::string(64, ']'), "in.json").is_array());
  CHECK(refused(std::string(2'000'000, '[')));
  CHECK(refused("[1,2,3]", {.bytes = 6}));
  CHECK(redco::json::parse_json("[1,2,3]", "in.json", {.bytes = 7, .depth = 1, .values = 4}).size() == 3);
  CHECK(refused("[1,2,3]", {.values = 3}));
}

TEST_CASE("an object of very many keys is read in time linear in its size") {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":1";
  text += "}";
  double const start = processor_time();
  CHECK(redco::json::parse_json(text, "in.json").size() == 200'000);
  CHECK(processor_time() - start < 20);  // a search per key would take minutes
}

TEST_CASE("a message contains only valid UTF-8") {
  CHECK(contains(refusal("{\"a\": \"\u00E9\xE9t\"}"), "ill-formed UTF-8 byte; last read: '\"\\xC3\\xA9\\xE9t'"));
  CHECK(contains(refusal("\"\u00E9\" x"), "last read: '\"\u00E9\" x'"));
}
