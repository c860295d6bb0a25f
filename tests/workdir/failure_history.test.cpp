#include "catch.hpp"
#include "temporary_folder.hpp"

#include <redco/workdir/failure_history.hpp>

#include <string>

TEST_CASE("only failures of the same step in a row count") {
  temporary_folder folder;
  redco::workdir::failure_history const history(folder.path);
  CHECK(history.repeated().empty());
  history.add(3, "first\nwith a second line");
  history.add(7, "other");
  CHECK(history.repeated().empty());
  history.add(7, "again");
  CHECK(history.repeated().find("the last 2 runs here failed at step 7, the last with: again") != std::string::npos);
  history.add(8, "further");
  CHECK(history.repeated().empty());
  history.clear();
  history.add(8, "further");
  CHECK(history.repeated().empty());
}

TEST_CASE("starts that end before their first step are counted, also those that were killed") {
  temporary_folder folder;
  redco::workdir::failure_history const history(folder.path);
  CHECK(history.begin_start().empty());
  CHECK(history.end_start(redco::exit_code::data, "no such file\nwith a second line").empty());
  CHECK(history.begin_start().empty());
  CHECK(history.end_start(redco::exit_code::preempted, "SIGTERM").empty());  // does not count
  CHECK(history.begin_start().empty());                                      // killed
  CHECK(history.begin_start().empty());
  CHECK(history.end_start(redco::exit_code::io, "the disk is full") ==
        "starts   3 in a row ended before their first step");
  std::string const fourth = history.begin_start();
  CHECK(fourth.find("the last 3 starts here ended before their first step, the last with: the disk is full") !=
        std::string::npos);
  CHECK(history.begin_start().find("the last 4 starts here ended before their first step, the last without a "
                                   "message") != std::string::npos);
  history.forget_starts();
  CHECK(history.end_start(redco::exit_code::io, "the disk is full").empty());
  CHECK(history.begin_start().empty());
}
