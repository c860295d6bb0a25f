#include "catch.hpp"

#include <redco/workdir/run_config.hpp>

#include <map>
#include <string>

TEST_CASE("options are settings by name, except options of the deployment and remarks") {
  using settings = std::map<std::string, std::string>;
  CHECK(redco::workdir::config_settings(
            R"({"discount": 0.98, "batch": 128, "task": "a b", "list": ["x", "y"], "open": null, "#dtype": "why",
                "workdir": "run", "resume": "auto", "ranks": 2, "threads": 1})") ==
        settings{{"discount", "0.98"}, {"batch", "128"}, {"task", "a b"}, {"list", R"(["x","y"])"}, {"open", "null"}});
  CHECK(redco::workdir::config_settings("").empty());
  CHECK(redco::workdir::config_settings("[1]").empty());
  CHECK_THROWS_AS(redco::workdir::config_settings("{"), redco::error);
}
