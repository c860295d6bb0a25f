#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/nn/parameter.hpp>
#include <redco/nn/pass.hpp>
#include <redco/nn/watches.hpp>
#include <redco/kernel/parameter_uses.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace redco::nn {

/// Norms of the gradients of single examples, from one backward over all examples (ghost norms, Li
/// et al. 2021). docs/optimizers.md lists the layers that have them. Each rank makes an object
/// before each forward call:
///
///   redco::nn::example_norms norms(*actor.net, in);
///   at::Tensor const losses = losses_of(actor.in(norms.watched()));  // [examples]
///   return redco::mean{norms.clipped(losses, 1), expected_examples};
class example_norms final : parameter_watch, kernel::parameter_uses {
 public:
  /// Begins to observe the calls of `net` on this thread until of() or the end of this object.
  /// `in`: pass of a micro-batch of a known number of examples. Throws `error` with exit code 70 if
  /// the thread observes another network, the pass has a watch, or the pass has no examples. Throws
  /// it with 64 if the mesh has several ranks along cp or ep, which divide gradients of examples.
  example_norms(network_base const& net, redco::pass const& in);

  /// Returns the pass for the call of the network. Nothing is recomputed, and communication between
  /// shards does not overlap products. This object must outlive the pass.
  redco::pass const& watched() const { return in_; }

  /// Returns the norm of each example's gradient over all model shards, [examples] in f64, equal on
  /// all shards, all of which call it. `losses` [examples]: losses of the examples, each of which
  /// depends only on its own example. The autograd graph is kept for backward. Throws `error` with
  /// exit code 64 and the parameter's name if a parameter has no ghost norms.
  at::Tensor of(at::Tensor const& losses);

  /// Returns the sum of the losses, each scaled by min(1, most / norm). The gradient of the sum is
  /// the sum of the examples' gradients, each clipped to the norm `most`. `losses` is as in of().
  /// Throws the errors of of().
  at::Tensor clipped(at::Tensor const& losses, double most) {
    return (losses * (most / of(losses)).clamp_max(1)).sum();
  }

 private:
  at::Tensor before_use(parameter which, at::Tensor const& value) override;
  void used(at::Tensor const& parameter, at::Tensor const& result, squares of) override;
  std::string name_of(parameter which) const { return stored(which).name; }
  stored_parameter const& stored(parameter which) const;

  /// A tensor that a module received for a parameter, and the operation that has read it.
  struct use {
    parameter which;
    at::Tensor value;
    /// Place of the result in the autograd graph, which later operations in place do not change; of
    /// `value` itself if no operation has reported the use.
    torch::autograd::Edge end;
    std::int64_t examples = 0;  ///< size of the result's first dimension
    squares of;
  };

  network_base const& net_;
  redco::pass in_;
  std::vector<use> uses_;
  scope here_;
};

}  // namespace redco::nn

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/example_norms.inl.hpp>
#endif
