#pragma once

#include <redco/nn/parameter.hpp>

#include <redco/tensor/torch.hpp>

namespace redco {

/// An observer of every use of a network's parameters in a pass (set it as `pass::watch`). It may
/// replace the tensor that a module reads: gathered from shards, loaded from elsewhere, or with a
/// product added. It must outlive the pass and its backward, because blocks that run again use
/// their parameters again.
class parameter_watch {
 public:
  parameter_watch() = default;
  parameter_watch(parameter_watch const&) = delete;
  parameter_watch& operator=(parameter_watch const&) = delete;
  virtual ~parameter_watch() = default;

  /// Returns the tensor that a module reads for parameter `which`, whose tensor in this call is
  /// `value`. `which.place` is the index in network().parameters(). The result has the shape and
  /// dtype of `value`, and stays differentiable in `value`.
  virtual at::Tensor before_use(parameter which, at::Tensor const& value) = 0;
};

}  // namespace redco
