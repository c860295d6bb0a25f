#pragma once

#include <redco/cost/cost_of.hpp>
#include <redco/cost/machine.hpp>
#include <redco/cost/setup.hpp>

namespace redco::cost {

/// Predicted seconds of one step, by what they are spent on.
struct step_time {
  double products = 0;     ///< of matrices
  double activations = 0;  ///< all that layers do element by element
  double weights = 0;      ///< reading weights and adding to their gradients, in each micro-batch
  double tensors = 0;      ///< what each of a layer's tensors costs, however small
  double messages = 0;
  double update = 0;  ///< of the optimizer
  double hidden = 0;  ///< of all these, what passes at once: messages while their rank computes

  double total() const { return products + activations + weights + tensors + messages + update - hidden; }
};

/// The time of one step of a run, from its cost and the machine's speed. The ranks of a host share it; what they do takes turns
/// with what they send: inside a host by the speed of its group there, and then between hosts, where all groups of a host
/// share its link. Buckets of gradients (setup::gradient_bucket) pass while the last backward computes: each waits for its gradients,
/// which end evenly over backward, and for the bucket before it, and takes from backward the share of the cores that keeps it busy.
/// What shards send (setup::overlap_shards) passes beside the products that give it or take it, at most as long, in product_runs, of
/// which one has nothing to pass beside; sums of what enters also beside the gradients of weights; small messages do not.
/// Errors: exit code 65 where the machine's speed in this dtype, of all-reduces, or between hosts, was not measured.
step_time step_time_of(rank_cost const& what, setup const& run, machine const& on);

}  // namespace redco::cost

#ifndef REDCO_COMPILED
#include <redco/cost/step_time.inl.hpp>
#endif
