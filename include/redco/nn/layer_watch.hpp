#pragma once

#include <redco/tensor/torch.hpp>

#include <string_view>

namespace redco {

struct pass;

/// An observer of the inputs and outputs of a network's layers during a pass (set it as
/// `pass::layers`). Layers are reported in the order of forward; inner layers between the enter()
/// and leave() of the outer layer. The watch must outlive the pass.
class layer_watch {
 public:
  /// The part of an activation that one rank holds.
  struct activation {
    at::Tensor local;  ///< Tensor on this rank; undefined for a pending sum or a handle
    /// True if the gradient on this rank is complete, not an addend of a pending sum over the
    /// ranks.
    bool complete_gradient = true;
  };

  layer_watch() = default;
  layer_watch(layer_watch const&) = delete;
  layer_watch& operator=(layer_watch const&) = delete;
  virtual ~layer_watch() = default;

  /// Called when the network is called with `x` [examples, ...] in a pass.
  virtual void call(at::Tensor const& x, pass const& in) = 0;

  /// Called when the layer `component` (its name within the outer layer) receives `x`.
  virtual void enter(std::string_view component, activation const& x) = 0;

  /// Called when the layer that was entered last, or the network, returns `y`.
  virtual void leave(activation const& y) = 0;
};

}  // namespace redco
