#pragma once

#include <redco/run/network_state.hpp>
#include <redco/run/verify_records.hpp>
#include <redco/run/verify_result.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/dtype.hpp>

#include <map>
#include <string>
#include <vector>

namespace redco::run {

/// The rounding noise of one update on one rank, measured by computing the update several times.
/// Each number is a largest absolute difference; infinity if the noise could not be measured.
struct update_noise {
  double loss = 0, norm = 0, count = 0;
  std::map<std::string, double> terms;  ///< noise of each term of the loss, by name
  struct of_parameter {
    double gradient = 0, update = 0;
    std::vector<double> slots;
    /// Mask of the elements whose gradient is rounding noise, in this or in an earlier update. An
    /// optimizer may turn such a gradient into an update of full size and of any sign.
    at::Tensor noisy;
  };
  std::vector<of_parameter> parameters;

  bool is_measured() const;
};

/// A meter of the rounding noise of a run's updates, in order.
class noise_meter {
 public:
  /// Returns the noise of the update `alone`, and remembers noisy elements for later updates.
  /// `others`: the same update, computed on one rank with other rounding. Null and records of other
  /// networks, which a program gives if it takes other steps, are not used. `compute`: dtype in
  /// which `alone` was computed.
  update_noise measure(update_record const& alone, std::vector<update_record const*> others, dtype compute);

 private:
  /// Masks of noisy elements, by names of network and parameter
  std::map<std::string, at::Tensor> noisy_;
  std::map<std::string, int> updates_;  ///< number of measured updates of each network
};

/// Returns the narrower dtype of a network and of the losses of its update, which sets the
/// tolerance.
at::ScalarType narrowest_of(dtype compute, update_record const& update);

/// Multiplies each parameter of a network by a factor near 1, so that the network's next step
/// rounds otherwise. The factor differs from 1 by at most one rounding of `type`, and in f64 by 16.
/// The factors are equal in each call.
void shake(network_state const& network, at::ScalarType type);

/// Returns the largest absolute value of the elements of `x`: 0 if there are no elements, infinity
/// if an element is not finite.
double largest(at::Tensor const& x);

/// Returns the slice of the unsharded tensor `whole` that `box` (offsets and sizes) describes.
at::Tensor part_of(at::Tensor const& whole, safetensors::box const& box);

/// Returns the largest absolute difference between a rank's shard `own` and the slice `box` of the
/// unsharded tensor `whole`. Ignores the elements of the mask `noisy`, and the fraction `strays` of
/// the others with the largest differences, and one more, unless `strays` is 0. Returns infinity
/// if only one of the two tensors is defined, or if a difference is not finite.
double difference(at::Tensor const& own, at::Tensor const& whole, safetensors::box const& box,
                  at::Tensor const& noisy = {}, double strays = 0);

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/update_noise.inl.hpp>
#endif
