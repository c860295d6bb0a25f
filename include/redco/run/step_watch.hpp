#pragma once

#include <redco/run/network_state.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/schedule/step_op.hpp>

namespace redco::run {

/// An observer of one training step: its losses, its gradient before the update, and the network
/// after the update. The observer must outlive the step. The rank's thread calls all members.
class step_watch {
 public:
  step_watch() = default;
  step_watch(step_watch const&) = delete;
  step_watch& operator=(step_watch const&) = delete;
  virtual ~step_watch() = default;

  /// Called with the loss of each micro-batch, before its backward.
  virtual void computed(terms const& loss) = 0;

  /// Called with the flat gradient, summed over the ranks and not yet clipped. The mean gradient is
  /// this sum divided by `divisor`. Not called if no token or example counted in the step.
  virtual void reduced(network_state const& state, double divisor) = 0;

  /// Called with the network after the update, when parameters and optimizer state are ready for
  /// the next step.
  virtual void updated(network_state const& state) = 0;

  /// Called with each operation of the step after its execution.
  virtual void executed(schedule::step_op const&) {}
};

}  // namespace redco::run
