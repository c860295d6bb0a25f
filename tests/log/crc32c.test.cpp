#include "catch.hpp"

#include <redco/log/event_writer.hpp>

#include <string>

TEST_CASE("crc32c gives the published check values") {
  static_assert(redco::log::crc32c("") == 0);
  static_assert(redco::log::crc32c("123456789") == 0xE3069283U);
  CHECK(redco::log::crc32c(std::string(32, '\0')) == 0x8A9136AAU);  // RFC 3720, appendix B.4
  CHECK(redco::log::crc32c(std::string(32, '\xFF')) == 0x62A8AB43U);
  std::string rising, falling;
  for (int value = 0; value < 32; ++value) {
    rising += static_cast<char>(value);
    falling += static_cast<char>(31 - value);
  }
  CHECK(redco::log::crc32c(rising) == 0x46DD794EU);
  CHECK(redco::log::crc32c(falling) == 0x113FDB5CU);
}

TEST_CASE("crc32c of a text equals crc32c of its parts in sequence") {
  static_assert(redco::log::crc32c("456789", redco::log::crc32c("123")) == redco::log::crc32c("123456789"));
}
