#include "catch.hpp"
#include "temporary_folder.hpp"

#include <redco/workdir/run_recorder.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include <unistd.h>

TEST_CASE("results are indented JSON in the given order, with null for numbers that are not finite") {
  temporary_folder folder;
  auto const file = folder.path / "eval_results_epoch0.json";
  redco::json::json_value results;
  results["loss"] = 2.125;
  results["bleu"] = std::numeric_limits<double>::quiet_NaN();
  results["by_length"] = {1, 2.5, -std::numeric_limits<double>::infinity()};
  results["all"]["accuracy"] = 0.5;
  redco::workdir::write_results(file, results);
  CHECK(content_of(file) == R"({
  "loss": 2.125,
  "bleu": null,
  "by_length": [
    1,
    2.5,
    null
  ],
  "all": {
    "accuracy": 0.5
  }
}
)");
}

TEST_CASE("results replace earlier ones, even after a killed run left a file") {
  temporary_folder folder;
  auto const file = folder.path / "min_metrics.json";
  // Process ids are reused
  std::ofstream(file.string() + ".unfinished." + std::to_string(::getpid())) << "{\"lo";
  redco::json::json_value const first{{"loss", 3}};
  REQUIRE_NOTHROW(redco::workdir::write_results(file, first));
  redco::workdir::write_results(file, redco::json::json_value{{"loss", 2}});
  CHECK(content_of(file) == "{\n  \"loss\": 2\n}\n");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("results that cannot be written are an error and leave the earlier ones") {
  temporary_folder folder;
  auto const file = folder.path / "outputs_epoch0.json";
  redco::workdir::write_results(file, redco::json::json_value::array({"kept"}));
  try {
    redco::workdir::write_results(folder.path / "missing" / "outputs_epoch0.json", 1);
    FAIL("written into a folder that is not there");
  } catch (redco::error const& problem) {
    CHECK(problem.code() == redco::exit_code::io);
    CHECK(std::string(problem.what()).find("No such file or directory") != std::string::npos);
  }
  std::filesystem::create_directory(folder.path / "folder");
  try {
    redco::workdir::write_results(folder.path / "folder", 1);
    FAIL("a folder was replaced by a file");
  } catch (redco::error const& problem) {
    CHECK(problem.code() == redco::exit_code::io);
  }
  CHECK_THROWS_AS(redco::workdir::write_results(file, "\xff"), redco::error);
  CHECK(content_of(file) == "[\n  \"kept\"\n]\n");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 2);
}
