#pragma once

#include <redco/nn/parameter.hpp>

#include <redco/tensor/torch.hpp>

namespace redco::nn {

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
  /// is `value`. `which.place` is the parameter's index in network().parameters(). The result must
  /// have the shape and dtype of `value` and be differentiable in `value`.
  virtual at::Tensor before_use(parameter which, at::Tensor const& value) = 0;
};

}  // namespace redco::nn
