#pragma once

#include <redco/nn/parameter.hpp>
#include <redco/tensor/torch.hpp>

#include <string_view>

namespace redco {

struct pass;

}  // namespace redco

namespace redco::nn {

/// An observer of the inputs and outputs of a network's layers during forward. Set it as
/// `pass::layers`; it must outlive the pass. enter() and leave() are called in the order of
/// forward. Inner layers are reported between the enter() and leave() of their outer layer.
class layer_watch {
 public:
  /// An activation (input or output of a layer) as one rank holds it.
  struct activation {
    /// Rank's own part of the activation; undefined for a pending sum or a handle to logits
    at::Tensor local;
    /// True if this rank's gradient of the activation is complete; false if the gradients of all
    /// ranks must still be summed.
    bool complete_gradient = true;
  };

  layer_watch() = default;
  layer_watch(layer_watch const&) = delete;
  layer_watch& operator=(layer_watch const&) = delete;
  virtual ~layer_watch() = default;

  /// Called when the user calls the network with input `x` [examples, ...] and settings `in`,
  /// before the first enter().
  virtual void call(at::Tensor const& x, pass const& in) = 0;

  /// Called before the layer `component` (its name within the outer layer) computes its input `x`.
  virtual void enter(std::string_view component, activation const& x) = 0;

  /// Called when a layer returns `y`: the layer of the latest enter() without a leave(), or the
  /// network if there is none.
  virtual void leave(activation const& y) = 0;
};

/// An observer that is called before each use of a network's parameters, set as `pass::watch`. It
/// may replace the tensor that a module reads: for example, gather it from shards or add a product.
/// It must outlive the pass and backward, because recomputed blocks use their parameters again in
/// backward.
class parameter_watch {
 public:
  parameter_watch() = default;
  parameter_watch(parameter_watch const&) = delete;
  parameter_watch& operator=(parameter_watch const&) = delete;
  virtual ~parameter_watch() = default;

  /// Returns the tensor that a module shall read for parameter `which`, whose tensor in this call
  /// is `value`. `which.index` is the parameter's index in network().parameters(). The result must
  /// have the shape and dtype of `value` and be differentiable in `value`.
  virtual at::Tensor before_use(parameter which, at::Tensor const& value) = 0;
};

}  // namespace redco::nn
