#include "catch.hpp"

#include <redco/options/value_text.hpp>
#include <redco/shape/bytes.hpp>

#include <string>

namespace bytes_text_test {

std::string refusal(std::string const& text) {
  try {
    redco::options::parse_bytes(text);
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::usage);
    return e.what();
  }
  return "accepted";
}

TEST_CASE("bytes are a number and a unit") {
  CHECK(redco::options::parse_bytes("40GiB") == redco::GiB(40));
  CHECK(redco::options::parse_bytes("1.5KiB") == 1536);
  CHECK(redco::options::parse_bytes("0.125MiB") == redco::shape::KiB(128));
  CHECK(redco::options::parse_bytes("3TiB") == redco::GiB(3072));
}

TEST_CASE("text that is not a number of bytes is refused with the expected format") {
  CHECK(refusal("10") == "'10' has no unit; write 10GiB, or KiB, MiB or TiB");
  CHECK(refusal("40GB") == "'40GB' has the unknown unit 'GB'; use KiB, MiB, GiB or TiB");
  CHECK(refusal("").find("is no number of bytes") != std::string::npos);
  CHECK(refusal("-4GiB").find("is no number of bytes") != std::string::npos);
  CHECK(refusal("99999999999999999999GiB").find("is no number of bytes") != std::string::npos);
  CHECK(refusal("9999999999TiB").find("more than 63 bits") != std::string::npos);
  CHECK(refusal("0GiB").find("is nothing") != std::string::npos);
  CHECK(refusal("4 GiB").find("unknown unit ' GiB'") != std::string::npos);
}

}  // namespace bytes_text_test
