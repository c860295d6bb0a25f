#include "catch.hpp"

#include <redco/cost/machine_file.hpp>

#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <string>

namespace machine_test {

redco::cost::machine const machine{.compute = {{redco::dtype::f32, 1, 4e10, 5e9, 6e9, 1e-6},
                                               {redco::dtype::f32, 4, 3e10, 4e9, 5e9, 2e-6},
                                               {redco::dtype::bf16, 2, 2e10, 3e9, 4e9, 0}},
                                   .groups = {{2, 2, 1e-5, 7e9}, {2, 4, 2e-5, 6e9}, {4, 4, 3e-5, 5e9}},
                                   .links = {{2, 2, 1, 1e-4, 1e8, 0.25}, {2, 4, 2, 2e-4, 2e8}, {4, 4, 4, 3e-4, 3e8, 1}},
                                   .update_bytes_per_second = 8e9};

TEST_CASE("a machine is read back unchanged") {
  redco::json::json_value const file = redco::cost::machine_json(machine);
  CHECK(file.at("schema") == "redco.machine");
  CHECK(redco::cost::read_machine(redco::json::parse_json(file.dump(), "m.json"), "m.json") == machine);
}

TEST_CASE("a machine without links between hosts keeps the older file format") {
  redco::cost::machine alone = machine;
  alone.links.clear();
  redco::json::json_value const file = redco::cost::machine_json(alone);
  CHECK(!file.contains("links"));
  CHECK(redco::cost::read_machine(file, "m.json") == alone);
}

TEST_CASE("a machine file names its device, which is a CPU by default") {
  redco::cost::machine on_device = machine;
  on_device.device = "cuda";
  redco::json::json_value file = redco::cost::machine_json(on_device);
  CHECK(file.at("device") == "cuda");
  CHECK(redco::cost::read_machine(file, "m.json") == on_device);
  file.erase("device");
  CHECK(redco::cost::read_machine(file, "m.json").device == "cpu");
}

TEST_CASE("the speed for the largest measured number of ranks that the run reaches is used") {
  CHECK(machine.speed_of(redco::dtype::f32, 1).ranks == 1);
  CHECK(machine.speed_of(redco::dtype::f32, 3).ranks == 1);
  CHECK(machine.speed_of(redco::dtype::f32, 4).ranks == 4);
  CHECK(machine.speed_of(redco::dtype::f32, 64).ranks == 4);
  CHECK(machine.speed_of(redco::dtype::bf16, 1).ranks == 2);
  CHECK(machine.group_of(2, 2) == machine.groups[0]);
  CHECK(machine.group_of(2, 8) == machine.groups[1]);
  CHECK(machine.group_of(16, 16) == machine.groups[2]);
  CHECK_THROWS_AS(machine.speed_of(redco::dtype::f64, 1), redco::error);
  CHECK_THROWS_AS(redco::cost::machine{}.group_of(2, 2), redco::error);
  CHECK(machine.link_of(2, 2) == machine.links[0]);
  CHECK(machine.link_of(2, 16) == machine.links[1]);
  CHECK(machine.link_of(7, 8) == machine.links[2]);
  CHECK_THROWS_AS(redco::cost::machine{}.link_of(2, 2), redco::error);
}

void check_refused(redco::json::json_value const& file, std::string const& words) {
  try {
    redco::cost::read_machine(file, "m.json");
    FAIL("not refused: " << words);
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    CHECK(std::string(e.what()) == "m.json: " + words + "; write the file anew with redco-plan --calibrate");
  }
}

TEST_CASE("wrong values in a machine file are refused with their position") {
  redco::json::json_value const good = redco::cost::machine_json(machine);
  auto const bad = [&](std::string const& pointer, redco::json::json_value const& value) {
    redco::json::json_value file = good;
    file[redco::json::json_value::json_pointer(pointer)] = value;
    return file;
  };
  check_refused(bad("/schema", "redco.shard_report"), "is no machine file: its schema is not \"redco.machine\"");
  check_refused(bad("/version", 2), "has a version other than 1");
  check_refused(bad("/cores", 2), "has the unknown key \"cores\"");
  check_refused(bad("/compute", 2), "has a \"compute\" that is no list");
  check_refused(bad("/compute", redco::json::json_value::array()), "has no speed in \"compute\" or \"all_reduce\"");
  check_refused(bad("/update_bytes_per_second", 0), "has a \"update_bytes_per_second\" that is no positive number");
  redco::json::json_value file = good;
  file.erase("all_reduce");
  check_refused(file, "has no \"all_reduce\"");
  file = good;
  file["compute"].push_back(file["compute"][0]);
  check_refused(file, "has the speed of f32 with 1 ranks twice");
  file = good;
  file["links"].push_back(file["links"][1]);
  check_refused(file, "has the link of 2 of 4 hosts twice");
  check_refused(bad("/device", 3), "has a \"device\" that is no text");
  check_refused(bad("/links", "none"), "has a \"links\" that is no list");
}

TEST_CASE("wrong values of a speed are refused with their position") {
  redco::json::json_value const good = redco::cost::machine_json(machine);
  auto const refuse = [&](std::string const& list, std::string const& key, redco::json::json_value const& value,
                          std::string const& words) {
    redco::json::json_value file = good;
    file[list][1][key] = value;
    try {
      redco::cost::read_machine(file, "m.json");
      FAIL("not refused: " << words);
    } catch (redco::error const& e) {
      CHECK(std::string(e.what()).find("m.json: " + list + "[1] has " + words) == 0);
    }
  };
  refuse("compute", "dtype", "f8", "a \"dtype\" that is none of f32, bf16, f64 and f16");
  refuse("compute", "ranks", 0, "a \"ranks\" that is no integer from 1");
  refuse("compute", "operations_per_second", "fast", "a \"operations_per_second\" that is no positive number");
  refuse("compute", "seconds_per_tensor", -1, "a \"seconds_per_tensor\" that is no number from 0");
  refuse("compute", "seconds_per_call", 1, "the unknown key \"seconds_per_call\"");
  refuse("all_reduce", "group", 1.5, "a \"group\" that is no integer from 2");
  refuse("links", "between", "racks", "a \"between\" other than \"hosts\"");
  refuse("links", "hosts", 1, "a \"hosts\" that is no integer from 2");
  refuse("links", "hosts_of_machine", 0, "a \"hosts_of_machine\" that is no integer from 1");
  refuse("links", "bytes_per_second", 0, "a \"bytes_per_second\" that is no positive number");
  refuse("links", "busy", 1.5, "a \"busy\" above 1");
  refuse("links", "busy", -0.5, "a \"busy\" that is no number from 0");
  refuse("links", "of", 1, "a \"of\" that is no integer from 2");
  CHECK_THROWS_AS(redco::cost::read_machine(redco::json::json_value::array(), "m.json"), redco::error);
}

}  // namespace machine_test
