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

/// One rank's part of what an update did to one parameter.
struct updated_parameter {
  std::string name;
  safetensors::box place;         ///< that the tensors below hold of the unsharded parameter
  at::Tensor gradient;            ///< of the mean loss, before clipping; undefined where frozen
  at::Tensor update;              ///< value after the update minus value before
  std::vector<at::Tensor> slots;  ///< of the optimizer, after the update
};

/// One rank's part of one update of one network.
struct update_record {
  std::string network;  ///< empty for the only network of a trainer
  step_result result;
  at::ScalarType loss_type = at::kDouble;  ///< the narrowest of the losses that were added
  std::vector<updated_parameter> parameters;
};

/// Records updates: as a watch of a training step its gradient and what it changed, by itself what
/// else changed a network between two calls. Keeps copies of the rank's part of all tensors.
class update_recorder final : public step_watch {
 public:
  void computed(terms const& loss) override;
  void reduced(network_state const& state, double divisor) override;
  void updated(network_state const& state) override;

  /// Begins a record without gradients; `updated` ends it.
  void begin(network_state const& state);

  /// Returns what was recorded, and begins anew.
  update_record take(step_result const& result);

 private:
  update_record now_;
  std::vector<at::Tensor> before_;
};

/// A copy of the values of a part, without padding.
at::Tensor held_copy(ckpt::state_part const& part);

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/update_record.inl.hpp>
#endif
