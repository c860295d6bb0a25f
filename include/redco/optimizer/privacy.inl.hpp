#pragma once

#include <redco/optimizer/privacy.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

namespace redco::optimizer::detail {

/// A sum of numbers of any magnitude, each given by its logarithm and its sign.
class log_sum {
 public:
  void add(double log, bool negative = false) {
    double& side = negative ? negative_ : positive_;
    if (log == -std::numeric_limits<double>::infinity()) return;
    double const more = std::max(side, log), less = std::min(side, log);
    side = more + std::log1p(std::exp(less - more));
  }
  /// Returns the logarithm of the sum, which must be positive.
  double log() const { return positive_ + std::log1p(-std::exp(negative_ - positive_)); }

 private:
  double positive_ = -std::numeric_limits<double>::infinity();
  double negative_ = -std::numeric_limits<double>::infinity();
};

/// Returns log(erfc(x)), also where erfc(x) underflows.
inline double log_erfc(double x) {
  if (x < 20) return std::log(std::erfc(x));
  double const r = 1 / (2 * x * x);  // asymptotic series: 1 - r + 3 r^2 - 15 r^3 + ...
  return -x * x - std::log(x) - 0.5 * std::log(std::numbers::pi) +
         std::log1p(-r * (1 - 3 * r * (1 - 5 * r * (1 - 7 * r))));
}

/// Returns log(exp(x) - 1) for x > 0.
inline double log_expm1(double x) { return x > 30 ? x + std::log1p(-std::exp(-x)) : std::log(std::expm1(x)); }

/// Returns the logarithm of E[(p1(x) / p0(x))^order] for an integer order. x is normal with density
/// p0, and p1 is the density with the example. The sum is the excess of the binomial expansion over
/// (q + (1 - q))^order = 1, so that small divergences keep their digits.
inline double log_moment(double q, double noise, std::int64_t order) {
  auto const n = static_cast<double>(order);
  double log_binomial = std::log(n);  // of n over k, for k = 1
  log_sum excess;
  for (std::int64_t i = 2; i <= order; ++i) {
    auto const k = static_cast<double>(i);
    log_binomial += std::log((n - k + 1) / k);
    excess.add(log_binomial + k * std::log(q) + (n - k) * std::log1p(-q) +
               log_expm1((k * k - k) / (2 * noise * noise)));
  }
  double const log = excess.log();
  return log > 30 ? log + std::log1p(std::exp(-log)) : std::log1p(std::exp(log));
}

/// Returns the logarithm of this moment for any order, by two series (section 3.3 of Mironov,
/// Talwar and Zhang 2019). They are for x below and above the point at which both parts of p1 are
/// equal.
inline double log_moment(double q, double noise, double order) {
  double const middle = noise * noise * std::log(1 / q - 1) + 0.5, root = std::numbers::sqrt2 * noise;
  double log_binomial = 0;
  bool negative = false;
  log_sum all;
  for (std::int64_t i = 0; i < 1'000'000; ++i) {
    auto const k = static_cast<double>(i);
    double const j = order - k;
    double const below = log_binomial + k * std::log(q) + j * std::log1p(-q) + (k * k - k) / (2 * noise * noise) +
                         log_erfc((k - middle) / root) - std::numbers::ln2;
    double const above = log_binomial + j * std::log(q) + k * std::log1p(-q) + (j * j - j) / (2 * noise * noise) +
                         log_erfc((middle - j) / root) - std::numbers::ln2;
    all.add(below, negative);
    all.add(above, negative);
    if (k > order && std::max(below, above) < all.log() - 30) break;
    log_binomial += std::log(std::abs(j) / (k + 1));
    if (j < 0) negative = !negative;
  }
  return all.log();
}

inline void check_range(bool holds, char const* name, double value, char const* range) {
  if (!holds)
    throw error(exit_code::usage,
                "privacy with " + std::string(name) + " " + std::to_string(value) + ": give " + range);
}

}  // namespace redco::optimizer::detail

namespace redco::optimizer {

REDCO_INLINE double renyi_divergence(double sampling, double noise, double order) {
  if (sampling == 1) return order / (2 * noise * noise);
  bool const whole = order == std::floor(order);
  double const log = whole ? detail::log_moment(sampling, noise, static_cast<std::int64_t>(order))
                           : detail::log_moment(sampling, noise, order);
  return std::isnan(log) ? std::numeric_limits<double>::infinity() : std::max(log, 0.0) / (order - 1);
}

REDCO_INLINE double epsilon_at(double order, double divergence, double delta) {
  return std::max(0.0, divergence + std::log1p(-1 / order) - (std::log(delta) + std::log(order)) / (order - 1));
}

REDCO_INLINE double epsilon_of(private_steps const& run, double delta) {
  detail::check_range(run.sampling > 0 && run.sampling <= 1, "sampling", run.sampling, "a probability in (0, 1]");
  detail::check_range(run.noise > 0 && std::isfinite(run.noise), "noise", run.noise, "a number above 0");
  detail::check_range(run.steps > 0, "steps", static_cast<double>(run.steps), "1 or more");
  detail::check_range(delta > 0 && delta < 1, "delta", delta, "a probability in (0, 1)");
  double least = std::numeric_limits<double>::infinity();
  auto const try_order = [&](double order) {
    double const divergence = static_cast<double>(run.steps) * renyi_divergence(run.sampling, run.noise, order);
    least = std::min(least, epsilon_at(order, divergence, delta));
  };
  for (double const order :
       {1.25, 1.5, 1.75, 2.25, 2.5, 3.5, 4.5, 5.5, 6.5, 80.0, 96.0, 128.0, 192.0, 256.0, 512.0, 1024.0})
    try_order(order);
  for (double order = 2; order <= 64; ++order) try_order(order);
  return least;
}

REDCO_INLINE double noise_for(double epsilon, double delta, double sampling, std::int64_t steps) {
  detail::check_range(epsilon > 0 && std::isfinite(epsilon), "epsilon", epsilon, "a number above 0");
  auto const reaches = [&](double noise) { return epsilon_of({sampling, noise, steps}, delta) <= epsilon; };
  double low = 0, high = 1;
  while (!reaches(high)) {
    low = high;
    high *= 2;
    detail::check_range(high < 1e6, "epsilon", epsilon, "a larger one, which some noise reaches");
  }
  while (high - low > 1e-6 * high) {
    double const middle = (low + high) / 2;
    (reaches(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace redco::optimizer
