#include <redco/optimizer/privacy.hpp>

#include <redco/diag/error.hpp>

#include "catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

// Numbers without a source are printed by make_privacy.py, which integrates with 60 digits.

namespace privacy_test {

using namespace redco::optimizer;

/// Returns the epsilon of several runs together by the conversion of Mironov 2017, which the
/// published numbers use, and the order with which it is reached.
std::pair<double, double> classic_epsilon(std::vector<private_steps> const& runs, double delta,
                                          std::vector<double> const& orders) {
  std::pair<double, double> least{std::numeric_limits<double>::infinity(), 0};
  for (double const order : orders) {
    double divergence = 0;
    for (private_steps const& one : runs)
      divergence += static_cast<double>(one.steps) * renyi_divergence(one.sampling, one.noise, order);
    least = std::min(least, {divergence - std::log(delta) / (order - 1), order});
  }
  return least;
}

std::vector<double> integers(int last) {
  std::vector<double> all;
  for (int order = 2; order <= last; ++order) all.push_back(order);
  return all;
}

TEST_CASE("divergences of the sampled Gaussian mechanism equal those of Google's accountant") {
  // dp_accounting, test_compute_rdp_poisson_sampled_gaussian: 50 steps, five digits
  std::vector<std::pair<double, double>> const published{
      {1.5, 6.5007e-04}, {2.5, 1.0854e-03}, {5, 2.1808e-03}, {50, 2.3846e-02}, {100, 1.6742e+02}};
  for (auto const& [order, divergence] : published)
    REQUIRE(50 * renyi_divergence(0.01, 2.5, order) == Approx(divergence).epsilon(3e-5));
}

TEST_CASE("epsilons equal published ones with the conversion that these use") {
  // Abadi et al. 2016, section 3.2: "the moments accountant ... 1.26". TensorFlow Privacy,
  // test_get_privacy_spent: 1.258575 with order 20
  auto const [abadi, order] = classic_epsilon({{0.01, 4, 10000}}, 1e-5, integers(32));
  REQUIRE(abadi == Approx(1.258575).epsilon(1e-6));
  REQUIRE(order == 20);
  // TensorFlow Privacy's tutorial: 60,000 digits, batches of 250, 15 epochs, eps = 1.18
  REQUIRE(std::abs(classic_epsilon({{250. / 60000, 1.3, 3600}}, 1e-5, integers(64)).first - 1.18) < 0.005);
  // TensorFlow Privacy's table of MNIST: batches of 256, 15 and 60 epochs, 1.19 and 3.01
  REQUIRE(std::abs(classic_epsilon({{256. / 60000, 1.3, 3515}}, 1e-5, integers(64)).first - 1.19) < 0.005);
  REQUIRE(std::abs(classic_epsilon({{256. / 60000, 1.1, 14062}}, 1e-5, integers(64)).first - 3.01) < 0.005);
  // test_compute_privacy_loss: two runs together, 3.276237 with order 8
  auto const [both, at] =
      classic_epsilon({{0.01, 4, 10000}, {0.1, 2, 100}}, 1e-5,
                      {1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 64, 256});
  REQUIRE(both == Approx(3.276237).epsilon(1e-6));
  REQUIRE(at == 8);
}

TEST_CASE("an epsilon of one order equals the published conversion") {
  // dp_accounting, test_compute_epsilon_delta_pure_dp
  REQUIRE(epsilon_at(32, 1.1, 1e-5) == Approx(1.32783806176).epsilon(1e-11));
  REQUIRE(epsilon_at(2, 0, 0.9) == 0);
}

TEST_CASE("divergences equal a numeric integration in high precision") {
  struct numbers {
    double sampling, noise, order, divergence;
  };
  for (numbers const& n : {
           numbers{0.01, 1, 2, 0.000171813422074548},
           numbers{0.01, 0.6, 7, 4.34953034691584},
           numbers{0.3, 1.7, 33, 4.46778298615234},
           numbers{0.0001, 0.8, 5, 9.45104224283375e-8},
           numbers{0.97, 0.5, 12, 23.966771773653},
           numbers{0.01, 1.5, 1.5, 4.18345011072645e-5},
           numbers{0.2, 0.9, 3.5, 0.343629748092567},
           numbers{0.03, 4, 20.25, 0.000609226948119002},
           numbers{0.6, 2, 1.25, 0.0581841289534277},
       }) {
    INFO(n.sampling << ' ' << n.noise << ' ' << n.order);
    REQUIRE(renyi_divergence(n.sampling, n.noise, n.order) == Approx(n.divergence).epsilon(1e-9));
  }
  REQUIRE(renyi_divergence(1, 2.5, 7.5) == 0.6);
  REQUIRE(renyi_divergence(0.3, 1e-200, 3) == std::numeric_limits<double>::infinity());
}

TEST_CASE("the epsilon of a run is the least one over all orders") {
  // The Gaussian mechanism with this noise is exactly (1, 1e-6)-private (dp_accounting,
  // test_compute_epsilon_delta_gaussian); epsilons from divergences are upper bounds.
  double const gaussian = epsilon_of({1, 4.530877117, 1}, 1e-6);
  REQUIRE(gaussian >= 1);
  REQUIRE(gaussian < 1.002);
  REQUIRE(epsilon_of({250. / 60000, 1.3, 3600}, 1e-5) == Approx(0.942200218163).epsilon(1e-9));
  REQUIRE(epsilon_of({0.01, 4, 10000}, 1e-5) == Approx(1.03549006604).epsilon(1e-9));
  REQUIRE(epsilon_of({0.01, 1, 2000}, 1e-5) > epsilon_of({0.01, 1, 1999}, 1e-5));
  REQUIRE(epsilon_of({0.01, 1, 2000}, 1e-6) > epsilon_of({0.01, 1, 2000}, 1e-5));
}

TEST_CASE("the noise for an epsilon is the least one that keeps it") {
  for (double const epsilon : {0.3, 1.0, 8.0}) {
    double const noise = noise_for(epsilon, 1e-5, 0.01, 1000);
    REQUIRE(epsilon_of({0.01, noise, 1000}, 1e-5) <= epsilon);
    REQUIRE(epsilon_of({0.01, noise * 0.99999, 1000}, 1e-5) > epsilon);
  }
}

TEST_CASE("a private run with values outside their ranges is refused with what to give") {
  auto const message = [](auto const& call) {
    try {
      call();
    } catch (redco::error const& e) {
      return std::to_string(static_cast<int>(e.code())) + ": " + e.what();
    }
    return std::string();
  };
  REQUIRE(message([] {
            epsilon_of({1.2, 1, 1}, 0.1);
          }) == "64: privacy with sampling 1.200000: give a probability in (0, 1]");
  REQUIRE(message([] { epsilon_of({0.2, 0, 1}, 0.1); }) == "64: privacy with noise 0.000000: give a number above 0");
  REQUIRE(message([] { epsilon_of({0.2, 1, 0}, 0.1); }) == "64: privacy with steps 0.000000: give 1 or more");
  REQUIRE(message([] {
            epsilon_of({0.2, 1, 1}, 1);
          }) == "64: privacy with delta 1.000000: give a probability in (0, 1)");
  REQUIRE(message([] { noise_for(-1, 0.1, 0.2, 1); }) == "64: privacy with epsilon -1.000000: give a number above 0");
  REQUIRE(message([] { noise_for(1e-4, 1e-9, 0.2, 1); }) ==
          "64: privacy with epsilon 0.000100: give a larger one, which some noise reaches");
}

}  // namespace privacy_test
