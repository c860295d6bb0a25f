#pragma once

#include <redco/cost/cost_of.hpp>
#include <redco/cost/machine.hpp>
#include <redco/cost/setup.hpp>

namespace redco::cost {

/// The predicted seconds of one step, by kind of work.
struct step_time {
  double products = 0;     ///< Seconds of matrix products
  double activations = 0;  ///< Seconds of element-wise work on activations
  /// Seconds of reading weights and accumulating their gradients, summed over all micro-batches
  double weights = 0;
  double tensors = 0;  ///< Seconds of overhead per tensor, such as allocation and dispatch
  double messages = 0;
  double update = 0;  ///< Seconds of the optimizer's update
  /// Seconds of messages that overlap with computation, to be subtracted from the sum of the other
  /// members
  double hidden = 0;

  double total() const { return products + activations + weights + tensors + messages + update - hidden; }
};

/// Returns the predicted time of one step, from the run's cost and the machine's measured speeds.
/// Messages do not overlap with computation, except where setup::gradient_bucket or
/// setup::overlap_shards ask for it. README.md describes the model of time.
///
/// Throws `error` with exit code 65 if no speed was measured for the compute dtype, for messages
/// inside a host, or for links between hosts, where the run needs one.
step_time step_time_of(rank_cost const& cost, setup const& run, machine const& on);

}  // namespace redco::cost

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/cost/step_time.inl.hpp>
#endif
