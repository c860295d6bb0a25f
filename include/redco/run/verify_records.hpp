#pragma once

#include <redco/run/network_state.hpp>
#include <redco/run/step_work.hpp>
#include <redco/nn/pass.hpp>
#include <redco/nn/watches.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/safetensors/box.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace redco::run {

/// A record of one parameter's update on one rank: gradient, change and optimizer slots of the
/// rank's shard, or of a part of the shard that the rank updates (ZeRO).
struct updated_parameter {
  std::string name;
  /// Box (offsets and sizes) of the rank's shard in the unsharded parameter.
  safetensors::box box;
  /// Gradient of the mean loss before clipping; undefined if the parameter is frozen.
  at::Tensor gradient;
  /// Change of the parameter: its value after the update minus its value before.
  at::Tensor update;
  /// Optimizer slots of the parameter after the update, and their boxes.
  std::vector<at::Tensor> slots;
  std::vector<safetensors::box> slot_boxes = {};
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
inline at::Tensor held_copy(ckpt::state_part const& part) { return ckpt::detail::held_values(part).clone(); }

/// A recorder of the layers' inputs and outputs during one training step on one rank, for --verify.
/// If `keeps` is true, it also copies every input, output and gradient, so all activations stay in
/// memory. If `keeps` is false, it records only the calls.
class activation_record final : public nn::layer_watch {
 public:
  explicit activation_record(bool keeps) : keeps_(keeps) {}

  void call(at::Tensor const& x, pass const& in) override;
  void enter(std::string_view component, activation const& x) override;
  void leave(activation const& y) override;

  /// The input or the output of one layer, or of the whole network, in one call of the network.
  struct moment {
    std::string layer;  ///< path of the layer; empty for the whole network
    /// True if `value` is the layer's output, false if it is the layer's input.
    bool is_output = false;
    /// Copy of the value on this rank. Undefined if the ranks hold addends of a pending sum, or if
    /// the output is `logits` that are not computed yet.
    at::Tensor value;
    /// Gradient with respect to `value`; an undefined tensor until backward computes it. The
    /// pointer is null if the value needs no gradient, or if the gradient is a pending sum over
    /// ranks.
    std::shared_ptr<at::Tensor> gradient;
  };
  /// A record of one call of the network in the recorded step.
  struct call_record {
    /// sizes of the tensor with which the network was called, with whole sequences
    std::vector<std::int64_t> sizes;
    std::int64_t source = 0;  ///< tokens per example of the encoder's input; 0 without an encoder
    std::int64_t first_example = 0, examples = 0;
    std::uint32_t number = 0;  ///< index of this call among the calls for one micro-batch, from 0
    std::vector<moment> moments;
  };
  std::vector<call_record> const& calls() const { return calls_; }

  /// Forgets the calls recorded so far.
  void clear() {
    calls_.clear();
    path_.clear();
  }
  /// Ends recording: later calls are not recorded.
  void stop() { stopped_ = true; }

 private:
  void add(std::string const& layer, bool is_output, activation const& x);

  bool keeps_;
  bool stopped_ = false;
  std::vector<call_record> calls_;
  std::vector<std::string> path_;
};

/// Returns the path of the first layer whose output on the mesh (`own`) differs from its output on
/// one rank (`alone`). If no output differs and `forward` is false, returns the last layer whose
/// gradient differs. `forward`: true if the losses differ, too. Returns a phrase such as "the loss
/// function" if no layer is to blame, and an empty text if the layer is unknown. All ranks call it,
/// each with its own records. `tolerance`: largest allowed difference, relative to the largest
/// element. `in_order`: true if a call with the same index in both records is the same call.
std::string differing_layer(rank_context& rank, activation_record const& own, activation_record const& alone,
                            bool forward, double tolerance, bool in_order = false);

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/verify_records.inl.hpp>
#endif
