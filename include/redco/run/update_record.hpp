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

/// One rank's shard of the change that an update made to one parameter.
struct updated_parameter {
  std::string name;
  /// Box of the unsharded parameter that the tensors of this record hold.
  safetensors::box place;
  /// Gradient of the mean loss, before clipping; undefined if the parameter is frozen.
  at::Tensor gradient;
  /// Value after the update minus value before.
  at::Tensor update;
  /// Slots of the optimizer, after the update.
  std::vector<at::Tensor> slots;
};

/// One rank's shard of one update of one network.
struct update_record {
  /// Name of the network; empty for the only network of a trainer.
  std::string network;
  step_result result;
  /// The narrowest dtype of the losses that were added.
  at::ScalarType loss_type = at::kDouble;
  std::vector<updated_parameter> parameters;
};

/// A recorder of updates that keeps copies of this rank's shards. As the watch of a training step
/// it records the step's gradients and changes. With begin() and updated() it records any change of
/// a network between the two calls.
class update_recorder final : public step_watch {
 public:
  void computed(terms const& loss) override;
  void reduced(network_state const& state, double divisor) override;
  void updated(network_state const& state) override;

  /// Begins a record without gradients; updated() completes it.
  void begin(network_state const& state);

  /// Returns the record with this result, and begins an empty one.
  update_record take(step_result const& result);

 private:
  update_record now_;
  std::vector<at::Tensor> before_;
};

/// Returns a copy of a rank's shard of a tensor, without padding.
at::Tensor held_copy(ckpt::state_part const& part);

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/update_record.inl.hpp>
#endif
