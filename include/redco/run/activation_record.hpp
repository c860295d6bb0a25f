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

/// Records the calls of a network in a step on one rank and, if asked to, what each layer takes and
/// gives and their gradients. Then it holds a copy of all activations.
class activation_record final : public layer_watch {
 public:
  explicit activation_record(bool keeps) : keeps_(keeps) {}

  void call(at::Tensor const& x, pass const& in) override;
  void enter(std::string_view component, activation const& x) override;
  void leave(activation const& y) override;

  /// One activation, where a layer takes or gives it.
  struct moment {
    std::string layer;                     ///< path; empty: the network
    bool given = false;                    ///< by the layer, else taken
    at::Tensor value;                      ///< undefined where ranks hold addends, and for handles
    std::shared_ptr<at::Tensor> gradient;  ///< undefined tensor where it has none; null for a pending sum
  };
  /// One call of the network.
  struct call_record {
    std::vector<std::int64_t> sizes;  ///< of the input
    std::int64_t first_example = 0, examples = 0;
    std::uint32_t number = 0;  ///< within the micro-batch
    std::vector<moment> moments;
  };
  std::vector<call_record> const& calls() const { return calls_; }

 private:
  void add(std::string const& layer, bool given, activation const& x);

  bool keeps_;
  std::vector<call_record> calls_;
  std::vector<std::string> path_;
};

/// Returns the path of the first layer that computes otherwise on the mesh than on one rank, or, in
/// a step whose losses agree, of the last one whose gradient differs; a phrase where that is no
/// layer; empty if unknown. All ranks call it with their own records. `forward`: the losses differ.
/// `tolerance`: the largest difference, relative to the largest element.
std::string differing_layer(rank_context& rank, activation_record const& own, activation_record const& alone,
                            bool forward, double tolerance);

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/activation_record.inl.hpp>
#endif
