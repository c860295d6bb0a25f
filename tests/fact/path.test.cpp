#include "catch.hpp"

#include <redco/fact/path.hpp>

#include <string>

TEST_CASE("a layer path keeps as many characters as fit and counts the others") {
  using redco::fact::path;
  path whole;
  whole.push(std::string(path::capacity - 3, 'a'));
  whole.push("bb");
  CHECK(whole.view() == std::string(path::capacity - 3, 'a') + ".bb");
  CHECK(whole.missing == 0);
  whole.push("c");
  CHECK(whole.view().size() == path::capacity);
  CHECK(whole.missing == 2);  // including the dot
  path long_one;
  long_one.push("encoder");
  long_one.push(std::string(200, 'x'));
  CHECK(long_one.view() == "encoder." + std::string(path::capacity - 8, 'x'));
  CHECK(long_one.size + long_one.missing == 208);
}
