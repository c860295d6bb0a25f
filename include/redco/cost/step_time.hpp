#pragma once

#include <redco/cost/cost_of.hpp>
#include <redco/cost/machine.hpp>
#include <redco/cost/setup.hpp>

namespace redco::cost {

/// Predicted seconds of one step, by kind of work.
struct step_time {
  double products = 0;     ///< seconds of matrix products
  double activations = 0;  ///< seconds of all element-wise work
  /// Seconds of reading weights and accumulating their gradients, over all micro-batches
  double weights = 0;
  double tensors = 0;  ///< seconds of overhead per tensor
  double messages = 0;
  double update = 0;  ///< seconds of the optimizer
  /// Seconds of messages that overlap with computation, counted in the parts above
  double hidden = 0;

  double total() const { return products + activations + weights + tensors + messages + update - hidden; }
};

/// Returns the predicted time of one step, from the run's cost and the machine's speed. Computation
/// and messages take turns, except for overlapping messages (setup::gradient_bucket and
/// setup::overlap_shards). README.md describes the model of time.
///
/// Throws `error` with exit code 65 if the machine's speed in this type, of all-reduces, or between
/// hosts was not measured.
step_time step_time_of(rank_cost const& what, setup const& run, machine const& on);

}  // namespace redco::cost

#ifndef REDCO_COMPILED
#include <redco/cost/step_time.inl.hpp>
#endif
