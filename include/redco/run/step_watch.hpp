#pragma once

#include <redco/run/network_state.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/schedule/step_op.hpp>

namespace redco::run {

/// An observer of a training step: of its losses, its gradient before the update, and the network
/// after the update. It outlives the step. The rank's thread calls all members.
class step_watch {
 public:
  step_watch() = default;
  step_watch(step_watch const&) = delete;
  step_watch& operator=(step_watch const&) = delete;
  virtual ~step_watch() = default;

  /// Receives the loss of each micro-batch before its backward.
  virtual void computed(terms const& loss) = 0;

  /// Receives the flat gradient, summed over the ranks and not yet clipped. The mean gradient is
  /// the sum divided by `divisor`. Not called if nothing counted in the step.
  virtual void reduced(network_state const& state, double divisor) = 0;

  /// Receives the network after the update: parameters and optimizer state are ready for the next
  /// step.
  virtual void updated(network_state const& state) = 0;

  /// Receives each operation of the step after its execution.
  virtual void executed(schedule::step_op const&) {}
};

}  // namespace redco::run
