#pragma once

#include <redco/nn/layer_watch.hpp>
#include <redco/nn/pass.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace redco::run {

/// A layer watch that records the calls of a network during one step on one rank. If `keeps` is
/// true, the record also holds copies of every layer's input, output and gradients, and memory then
/// holds all activations.
class activation_record final : public layer_watch {
 public:
  explicit activation_record(bool keeps) : keeps_(keeps) {}

  void call(at::Tensor const& x, pass const& in) override;
  void enter(std::string_view component, activation const& x) override;
  void leave(activation const& y) override;

  /// The input or the output of one layer, or of the whole network, in one call.
  struct moment {
    std::string layer;   ///< path of the layer; empty for the network itself
    bool given = false;  ///< true for the layer's output, false for its input
    /// Copy of this rank's value. Undefined if ranks hold addends of a pending sum, and for
    /// handles.
    at::Tensor value;
    /// Gradient of the value; an undefined tensor until backward computes it. Null if the value
    /// needs no gradient or if the gradient is a pending sum over ranks.
    std::shared_ptr<at::Tensor> gradient;
  };
  /// A record of one call of the network in a step.
  struct call_record {
    std::vector<std::int64_t> sizes;  ///< sizes of the input tensor
    std::int64_t first_example = 0, examples = 0;
    std::uint32_t number = 0;  ///< number of the call within its micro-batch
    std::vector<moment> moments;
  };
  std::vector<call_record> const& calls() const { return calls_; }

 private:
  void add(std::string const& layer, bool given, activation const& x);

  bool keeps_;
  std::vector<call_record> calls_;
  std::vector<std::string> path_;
};

/// Returns the path of the first layer whose output on the mesh differs from one rank. If no output
/// differs and `forward` is false (the losses agree), returns the last layer whose gradient
/// differs. Returns a phrase if no layer is to blame, and an empty string if the layer is unknown.
/// All ranks call it with their own records. `tolerance`: largest difference relative to the
/// largest element.
std::string differing_layer(rank_context& rank, activation_record const& own, activation_record const& alone,
                            bool forward, double tolerance);

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/activation_record.inl.hpp>
#endif
