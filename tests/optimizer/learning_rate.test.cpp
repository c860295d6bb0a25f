#include <redco/optimizer/learning_rate.hpp>

#include <redco/optimizer/optimizer_description.hpp>
#include <redco/optimizer/optimizers.hpp>

#include "catch.hpp"

#include <cstdint>

TEST_CASE("a number is the rate of every step") {
  redco::optimizer::learning_rate const rate = 0.25;
  REQUIRE(rate.at(0, 10) == 0.25);
  REQUIRE(rate.at(99, 10) == 0.25);
  REQUIRE(redco::optimizer::learning_rate(redco::constant{.peak = 0.5, .warmup = 4}).at(1, 10) == 0.125);
  REQUIRE(redco::optimizer::learning_rate(redco::constant{.peak = 0.5, .warmup = 4}).at(4, 10) == 0.5);
}

TEST_CASE("linear decay rises from zero to its peak and falls to zero at the total") {
  redco::optimizer::learning_rate const rate = redco::linear_decay{.peak = 2, .warmup = 4};
  REQUIRE(rate.at(0, 12) == 0);
  REQUIRE(rate.at(3, 12) == 1.5);
  REQUIRE(rate.at(4, 12) == 2);
  REQUIRE(rate.at(10, 12) == 0.5);
  REQUIRE(rate.at(12, 12) == 0);
  REQUIRE(rate.at(13, 12) == 0);
  REQUIRE(redco::optimizer::learning_rate(redco::linear_decay{.peak = 2, .warmup = 4, .total = 8}).at(6, 12) == 1);
  REQUIRE(redco::optimizer::learning_rate(redco::linear_decay{.peak = 2, .warmup = 30}).at(15, 12) == 1);
}

TEST_CASE("cosine falls from its peak to its floor") {
  redco::optimizer::learning_rate const rate = redco::cosine{.peak = 3, .warmup = 2, .floor = 1, .total = 10};
  REQUIRE(rate.at(1, 99) == 1.5);
  REQUIRE(rate.at(2, 99) == 3);
  REQUIRE(rate.at(6, 99) == Approx(2).epsilon(1e-14));
  REQUIRE(rate.at(4, 99) == Approx(1 + 2 * 0.853553390593273762).epsilon(1e-14));
  REQUIRE(rate.at(10, 99) == 1);
  REQUIRE(rate.at(50, 99) == 1);
}

TEST_CASE("one cycle starts low, peaks at its rise and ends far below its start") {
  redco::optimizer::learning_rate const rate = redco::one_cycle{.peak = 1};
  REQUIRE(rate.at(0, 20) == Approx(0.04).epsilon(1e-14));
  REQUIRE(rate.at(5, 20) == Approx(1).epsilon(1e-14));
  REQUIRE(rate.at(12, 20) == Approx(4e-6 + (1 - 4e-6) / 2).epsilon(1e-14));
  REQUIRE(rate.at(19, 20) == Approx(4e-6).epsilon(1e-10));
  REQUIRE(rate.at(25, 20) == Approx(4e-6).epsilon(1e-10));
  for (std::int64_t steps = 1; steps < 8; ++steps)
    for (std::int64_t step = 0; step < steps; ++step) {
      REQUIRE(rate.at(step, steps) > 0);
      REQUIRE(rate.at(step, steps) <= 1);
    }
}

TEST_CASE("a function may be the schedule, with and without captures") {
  redco::optimizer::learning_rate const rate = [](std::int64_t step, std::int64_t steps) {
    return double(step) / double(steps);
  };
  REQUIRE(rate.at(3, 12) == 0.25);
  double const half = 0.5;
  redco::optimizer::scheduled const rule(redco::adamw{.beta1 = 0.8},
                                         [half](std::int64_t step, std::int64_t) { return half * double(step); });
  REQUIRE(redco::optimizer::learning_rate_at(rule, 3, 12) == 1.5);
  REQUIRE(rule.beta1 == 0.8);
  REQUIRE(redco::optimizer::learning_rate_at(redco::adamw{.lr = redco::linear_decay{.peak = 4}}, 3, 12) == 3);
}
