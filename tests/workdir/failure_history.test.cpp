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
