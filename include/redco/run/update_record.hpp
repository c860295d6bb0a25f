#pragma once

#include <redco/run/network_state.hpp>
#include <redco/run/step_watch.hpp>
#include <redco/run/step_work.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/safetensors/box.hpp>

#include <string>
#include <vector>

namespace redco::run {

/// A record of one parameter's update on one rank: gradient, change and optimizer slots of the
/// rank's shard.
struct updated_parameter {
  std::string name;
  /// Box (offsets and sizes) of the rank's shard in the unsharded parameter.
  safetensors::box place;
  /// Gradient of the mean loss before clipping; undefined if the parameter is frozen.
  at::Tensor gradient;
  /// Change of the parameter: its value after the update minus its value before.
  at::Tensor update;
  /// Optimizer slots of the parameter after the update.
  std::vector<at::Tensor> slots;
};

/// A record of one update of a network on one rank, for --verify.
struct update_record {
  /// Name of the network; empty if the run has only one network.
  std::string network;
  step_result result;
  /// Narrowest dtype of the losses that were added to the step; sets the tolerance of the
  /// comparison.
  at::ScalarType loss_type = at::kDouble;
  std::vector<updated_parameter> parameters;
};

/// A recorder of updates that copies this rank's shards. Passed to a training step as its observer,
/// it records the step's gradients and changes. Between calls of begin() and updated(), it records
/// any change of a network.
class update_recorder final : public step_watch {
 public:
  void computed(terms const& loss) override;
  void reduced(network_state const& state, double divisor) override;
  void updated(network_state const& state) override;

  /// Begins a record without gradients: copies the network's parameters. updated() completes the
  /// record.
  void begin(network_state const& state);

  /// Returns the completed record with the step's `result`, and empties the recorder for the next
  /// one.
  update_record take(step_result const& result);

 private:
  update_record now_;
  std::vector<at::Tensor> before_;
};

/// Returns a copy of the values that a rank holds of a tensor, without padding.
at::Tensor held_copy(ckpt::state_part const& part);

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/update_record.inl.hpp>
#endif
