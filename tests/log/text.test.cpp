#include "catch.hpp"

#include <redco/log/text.hpp>

#include <cmath>
#include <limits>

TEST_CASE("numbers of the progress line are short and independent of the locale") {
  using namespace redco::log;
  CHECK(fixed_text(2.345, 1) == "2.3");
  CHECK(fixed_text(-0.05, 2) == "-0.05");
  CHECK(scientific_text(3e-4) == "3.0e-4");
  CHECK(scientific_text(1.25e-12) == "1.2e-12");
  CHECK(scientific_text(1) == "1.0e0");
  CHECK(scientific_text(-2.5e10) == "-2.5e10");
  CHECK(scientific_text(0) == "0");
  CHECK(short_text(2.3149, 3) == "2.31");
  CHECK(short_text(0.8, 2) == "0.80");
  CHECK(short_text(0.01234, 3) == "0.0123");
  CHECK(short_text(123.4, 3) == "123");
  CHECK(short_text(-12.34, 3) == "-12.3");
  CHECK(short_text(98765.4, 3) == "98765");
  CHECK(short_text(1.5e7, 3) == "1.5e7");
  CHECK(short_text(4e-5, 3) == "4.0e-5");
  CHECK(short_text(0, 3) == "0");
  CHECK(short_text(std::nan(""), 3) == "nan");
  CHECK(short_text(std::numeric_limits<double>::infinity(), 3) == "inf");
  CHECK(count_text(7) == "7");
  CHECK(count_text(950.4) == "950");
  CHECK(count_text(999.7) == "1.0k");
  CHECK(count_text(1234) == "1.2k");
  CHECK(count_text(18449) == "18.4k");
  CHECK(count_text(3.14e6) == "3.1M");
}

TEST_CASE("times are formatted like clocks") {
  using namespace redco::log;
  CHECK(clock_text(46.9) == "00:46");
  CHECK(clock_text(130) == "02:10");
  CHECK(clock_text(3599) == "59:59");
  CHECK(clock_text(3730) == "01:02:10");
  CHECK(clock_text(400000) == "111:06:40");
  CHECK(clock_text(2470, true) == "00:41:10");
  CHECK(clock_text(-1) == "00:00");
  CHECK(clock_text(std::nan("")) == "--:--");
  CHECK(clock_text(std::numeric_limits<double>::infinity()) == "--:--");
}

TEST_CASE("columns are counted and cut by code points") {
  using namespace redco::log;
  CHECK(columns("▕█ é") == 4);
  CHECK(fit("▕█ é!", 2) == "▕█");
  CHECK(fit("▕█ é!", 4) == "▕█ é");
  CHECK(fit("abc", 7) == "abc");
  CHECK(fit("abc", 0).empty());
}
