#include "catch.hpp"

#include <redco/fact/path.hpp>

#include <redco/diag/error.hpp>

#include <string>

TEST_CASE("a layer path of as many characters as fit is taken, and a longer one is refused with its name") {
  using redco::fact::path;
  path whole;
  whole.push(std::string(path::capacity - 3, 'a'));
  whole.push("bb");
  CHECK(whole.view() == std::string(path::capacity - 3, 'a') + ".bb");
  try {
    path long_one;
    long_one.push("encoder");
    long_one.push(std::string(path::capacity, 'x'));
    FAIL("accepted");
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::internal);
    CHECK(std::string(e.what()).starts_with("the layer path \"encoder.xxx"));
    CHECK(std::string(e.what()).find("more than 80 characters") != std::string::npos);
  }
  CHECK_THROWS_AS(whole.push("c"), redco::error);
  CHECK(whole.view().size() == path::capacity);
}
