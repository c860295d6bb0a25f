#pragma once

#include <cstdint>

namespace redco::optimizer {

/// A run of private gradient steps (Abadi et al. 2016). In each step, each example joins the batch
/// independently (Poisson sampling), each example's gradient is clipped, and normal noise is added
/// to their sum. Privacy is meant for adding or removing one example.
///
///   redco::optimizer::private_steps run{.sampling = 0.01, .noise = 4, .steps = 10'000};
///   double const epsilon = redco::optimizer::epsilon_of(run, 1e-5);  // 0.95
struct private_steps {
  double sampling = 1;     ///< probability in (0, 1] with which an example joins a step
  double noise = 1;        ///< standard deviation of the noise divided by the clipping norm
  std::int64_t steps = 1;  ///< number of steps, at least 1
};

/// Returns the Renyi divergence of order `order` > 1 between the results of one step with and
/// without an example (the sampled Gaussian mechanism of Mironov, Talwar and Zhang 2019). Infinite
/// beyond the range of double. The relative error of integer orders is below 1e-10. For other
/// orders, the error of exp((order - 1) * divergence) is about 1e-12.
double renyi_divergence(double sampling, double noise, double order);

/// Returns an epsilon such that a mechanism with Renyi divergence `divergence` of order `order` > 1
/// is (epsilon, delta)-private, by proposition 12 of Canonne, Kamath and Steinke 2020. `delta` is
/// in (0, 1).
double epsilon_at(double order, double divergence, double delta);

/// Returns an epsilon such that a whole run of private steps is (epsilon, delta)-private: the
/// smallest one over a list of orders from 1.25 to 1024. Throws `error` with exit code 64 for
/// values of `run` or `delta` outside their ranges.
double epsilon_of(private_steps const& run, double delta);

/// Returns the least noise (`private_steps::noise`) with which the run of `steps` steps is
/// (epsilon, delta)-private, to six digits, rounded up. `sampling` is the probability with which an
/// example joins a step. Throws `error` with exit code 64 for values outside their ranges, and for
/// an epsilon that no noise reaches.
double noise_for(double epsilon, double delta, double sampling, std::int64_t steps);

}  // namespace redco::optimizer

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/optimizer/privacy.inl.hpp>
#endif
