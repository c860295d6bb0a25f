#include "catch.hpp"

#include <redco/metrics/correlation.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace correlation_test {

using redco::metrics::matthews_correlation;
using redco::metrics::pearson;
using redco::metrics::spearman;
using labels = std::vector<int>;
using numbers = std::vector<double>;

/// Returns the message of the `error` that `metric` throws, which must have exit code 65.
template <class F>
std::string message_of(F&& metric) {
  try {
    metric();
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    return e.what();
  }
  return "accepted";
}

bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

Approx near(double value) { return Approx(value).epsilon(1e-12); }

// Numbers without another source are printed by make_scores.py.
TEST_CASE("Matthews correlations equal scikit-learn's") {
  labels const expected{0, 0, 0, 1, 1, 2, 2, 2, 3, 1}, predicted{0, 0, 1, 1, 3, 2, 1, 0, 3, 2};
  CHECK(matthews_correlation(predicted, expected) == near(0.328797974610715));
  CHECK(matthews_correlation(labels{1, -1, 1, 1}, labels{1, 1, 1, -1}) == near(-1.0 / 3));
}

TEST_CASE("the Matthews correlation of two classes is the closed form of the confusion matrix") {
  labels const expected{1, 1, 1, 1, 0, 0, 0, 1, 0, 1}, predicted{1, 0, 1, 1, 0, 1, 0, 1, 0, 0};
  double const tp = 4, tn = 3, fp = 1, fn = 2;
  double const closed = (tp * tn - fp * fn) / std::sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn));
  CHECK(matthews_correlation(predicted, expected) == near(closed));
  CHECK(matthews_correlation(predicted, expected) == near(0.408248290463863));
}

TEST_CASE("the Matthews correlation is 1 for right, -1 for opposite and 0 for constant predictions") {
  CHECK(matthews_correlation(labels{0, 1, 2, 7}, std::vector<std::int64_t>{0, 1, 2, 7}) == near(1));
  CHECK(matthews_correlation(std::vector<bool>{true, false, true}, labels{0, 1, 0}) == near(-1));
  CHECK(matthews_correlation(labels{1, 1, 1}, labels{0, 1, 2}) == 0);
  CHECK(matthews_correlation(labels{0, 1, 2}, labels{1, 1, 1}) == 0);
  CHECK(matthews_correlation(labels{1, 1}, labels{1, 1}) == 0);
}

TEST_CASE("the correlations of Pearson and Spearman equal scipy's") {
  numbers const x{17, 86, 60, 77, 47, 3, 70, 87, 88, 92}, y{6.5, 17.25, 11, 14, 3, 1, 20.75, 18, 17.25, 30};
  CHECK(pearson(x, y) == near(0.839105862718005));
  CHECK(spearman(x, y) == near(0.84498870571529));
  CHECK(pearson(labels{1, 2, 3, 4, 5, 6, 7}, numbers{10, 9, 2.5, 6, 4, 3, 2}) == near(-0.828503883588428));
}

TEST_CASE("equal numbers have the mean of their ranks") {
  labels const x{1, 2, 2, 3, 3, 3, -7}, y{5, 1, 5, 5, 0, 9, 1};
  CHECK(spearman(x, y) == near(0.186274509803922));
  CHECK(pearson(x, y) == near(0.375613193748342));
  CHECK(spearman(labels{1, 2, 3, 4, 5}, labels{5, 6, 7, 8, 7}) == near(0.820782681668123));
}

TEST_CASE("the Spearman correlation without ties is 1 - 6 sum d^2 / (n (n^2 - 1))") {
  CHECK(spearman(labels{10, 20, 30, 40, 50}, labels{2, 1, 4, 5, 3}) == near(1 - 6.0 * 8 / (5 * 24)));
  CHECK(spearman(numbers{1, 2, 3}, numbers{1, 100, 1e9}) == near(1));
  CHECK(spearman(numbers{1, 2, 3}, numbers{3, -2, -100}) == near(-1));
}

TEST_CASE("a linear relation has the Pearson correlation 1 or -1 at any offset and scale") {
  CHECK(pearson(numbers{1, 2, 4}, numbers{3, 5, 9}) == near(1));
  CHECK(pearson(std::vector<float>{1, 2, 4}, labels{-1, -2, -4}) == near(-1));
  CHECK(pearson(numbers{1e9 + 1, 1e9 + 2, 1e9 + 4}, numbers{3, 1, 7}) == near(0.785714285714285));
  CHECK(pearson(numbers{1e308, -1e308, 1.5e308}, numbers{1, -1, 1.5}) == near(1));
  CHECK(pearson(numbers{1e-300, 2e-300, 4e-300}, numbers{1, 2, 4}) == near(1));
  CHECK(std::abs(pearson(numbers{1, 1.1, 1.7}, numbers{1, 1.1, 1.7})) <= 1);
}

TEST_CASE("the correlation with a constant is NaN as in scipy") {
  CHECK(std::isnan(pearson(labels{1, 1, 1}, labels{1, 2, 3})));
  CHECK(std::isnan(pearson(labels{1, 2, 3}, numbers{0.1, 0.1, 0.1})));
  CHECK(std::isnan(spearman(labels{1, 2, 3}, labels{4, 4, 4})));
  CHECK(std::isnan(spearman(labels{0, 0}, labels{0, 0})));
}

TEST_CASE("correlations refuse wrong lengths and numbers that are not finite") {
  double const nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  CHECK(
      contains(message_of([] { matthews_correlation(labels{}, labels{}); }), "matthews_correlation of 0 predictions"));
  CHECK(contains(message_of([] { pearson(labels{1, 2}, labels{1}); }), "pearson of 2 predictions and 1 expected"));
  CHECK(contains(message_of([] { spearman(labels{1}, labels{1, 2}); }), "spearman of 1 predictions and 2 expected"));
  CHECK(contains(message_of([] { pearson(labels{1}, labels{2}); }), "needs at least 2"));
  CHECK(contains(message_of([] { spearman(labels{1}, labels{2}); }), "needs at least 2"));
  CHECK(contains(message_of([&] { pearson(numbers{1, nan, 2}, numbers{1, 2, 3}); }), "predicted value 1 of 3"));
  CHECK(contains(message_of([&] { spearman(numbers{1, 2}, numbers{1, infinity}); }), "expected value 1 of 2"));
}

}  // namespace correlation_test
