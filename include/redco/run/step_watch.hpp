#pragma once

#include <redco/run/network_state.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/schedule/step_op.hpp>

namespace redco::run {

/// Sees a training step from inside: its losses, its gradient before the update, and the network
/// after it. It outlives the step. All members are called by the thread of the rank.
class step_watch {
 public:
  step_watch() = default;
  step_watch(step_watch const&) = delete;
  step_watch& operator=(step_watch const&) = delete;
  virtual ~step_watch() = default;

  /// A micro-batch has this loss, which is not yet differentiated.
  virtual void computed(terms const& loss) = 0;

  /// The flat gradient is the sum over the ranks; divided by `divisor` it is the mean gradient,
  /// which is not yet clipped. Not called where nothing counted.
  virtual void reduced(network_state const& state, double divisor) = 0;

  /// The parameters and the state of the optimizer are those of the next step.
  virtual void updated(network_state const& state) = 0;

  /// An operation of the step has ended.
  virtual void executed(schedule::step_op const&) {}
};

}  // namespace redco::run
