#include "catch.hpp"

#include <redco/metrics/scores.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace labels_test {

using namespace redco;
using labels = std::vector<int>;

TEST_CASE("accuracy is the share of equal pairs of any comparable type") {
  CHECK(redco::metrics::accuracy(labels{2, 0, 1, 1, 2}, labels{2, 1, 1, 0, 2}) == Approx(3.0 / 5));
  std::array<std::string, 3> const said{"a", "b", "c"};
  std::vector<std::string> const is{"a", "b", "d"};
  CHECK(redco::metrics::accuracy(said, std::span<std::string const>(is)) == Approx(2.0 / 3));
}

// By hand, class: tp fp fn -> F1. 0: 2 1 1 -> 2/3. 1: 1 2 1 -> 2/5. 2: 1 0 2 -> 1/2. 3: 0 1 0 -> 0.
TEST_CASE("F1 averages classes, decisions, or takes one class") {
  labels const expected{0, 0, 0, 1, 1, 2, 2, 2}, predicted{0, 0, 1, 1, 3, 2, 1, 0};
  CHECK(f1_score(predicted, expected, redco::metrics::f1_average::macro) ==
        Approx((2.0 / 3 + 2.0 / 5 + 1.0 / 2 + 0) / 4));
  CHECK(f1_score(predicted, expected, redco::metrics::f1_average::micro) == Approx(4.0 / 8));
  CHECK(f1_score(predicted, expected, redco::metrics::f1_average::micro) ==
        Approx(redco::metrics::accuracy(predicted, expected)));
  CHECK(f1_score(predicted, expected, redco::metrics::f1_average::binary) == Approx(2.0 / 5));
  CHECK(f1_score(predicted, expected, redco::metrics::f1_average::binary, 2) == Approx(1.0 / 2));
}

TEST_CASE("a class without any decision scores 0, and perfect predictions score 1") {
  CHECK(f1_score(labels{0, 0}, labels{0, 0}, redco::metrics::f1_average::binary) == 0);
  CHECK(f1_score(labels{0, 0}, labels{0, 0}, redco::metrics::f1_average::macro) == 1);
  CHECK(f1_score(std::vector<std::int64_t>{0, 1, 7}, labels{0, 1, 7}, redco::metrics::f1_average::macro) == 1);
  CHECK(f1_score(labels{1, 0}, labels{0, 1}, redco::metrics::f1_average::micro) == 0);
}

TEST_CASE("the mean absolute error is in the numbers' own unit") {
  CHECK(redco::metrics::mean_absolute_error(std::vector<float>{1.5F, -2, 0}, std::vector<double>{1, 2, 0}) ==
        Approx(1.5));
}

TEST_CASE("metrics refuse empty and mismatched inputs with both lengths") {
  auto const refused = [](auto const& metric) {
    try {
      metric();
    } catch (error const& e) {
      CHECK(e.code() == exit_code::data);
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  CHECK(refused([] {
          redco::metrics::accuracy(labels{1, 2}, labels{1});
        }).find("2 predictions and 1 expected") != std::string::npos);
  CHECK(refused([] { f1_score(labels{}, labels{}, redco::metrics::f1_average::macro); }).find("0 predictions") !=
        std::string::npos);
  CHECK(refused([] { redco::metrics::mean_absolute_error(labels{}, labels{1}); }).find("mean_absolute_error") !=
        std::string::npos);
}

}  // namespace labels_test
