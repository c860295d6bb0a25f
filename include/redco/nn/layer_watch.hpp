#pragma once

#include <redco/tensor/torch.hpp>

#include <string_view>

namespace redco {

struct pass;

/// Sees what the layers of a network take and give in a pass (`pass::layers`), from the first to
/// the last, those inside a layer between what it takes and what it gives. It outlives the pass.
class layer_watch {
 public:
  /// Local part of an activation on one rank.
  struct activation {
    at::Tensor local;               ///< undefined where it is a pending sum or a handle
    bool complete_gradient = true;  ///< its gradient is no pending sum over the ranks
  };

  layer_watch() = default;
  layer_watch(layer_watch const&) = delete;
  layer_watch& operator=(layer_watch const&) = delete;
  virtual ~layer_watch() = default;

  /// The network is called in a pass with `x`, [examples, ...].
  virtual void call(at::Tensor const& x, pass const& in) = 0;

  /// The layer `component`, named in the one around it, is given `x`.
  virtual void enter(std::string_view component, activation const& x) = 0;

  /// The layer that was entered last, or the network that was called, gives `y`.
  virtual void leave(activation const& y) = 0;
};

}  // namespace redco
