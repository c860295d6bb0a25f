#pragma once

#include <redco/nn/parameter.hpp>

#include <redco/tensor/torch.hpp>

namespace redco {

/// Sees every use of a network's parameters in a pass (`pass::watch`), and may give the module another tensor for it: gathered
/// from where its parts are held, brought back from elsewhere, with a product added. It outlives the pass and its backward, in which
/// blocks that run again use theirs again.
class parameter_watch {
 public:
  parameter_watch() = default;
  parameter_watch(parameter_watch const&) = delete;
  parameter_watch& operator=(parameter_watch const&) = delete;
  virtual ~parameter_watch() = default;

  /// What a module gets where it reads `which`, whose tensor in this call is `value`; `which.place` counts
  /// network().parameters(). The result has the shape and dtype of `value`. What is differentiable in `value` stays so.
  virtual at::Tensor before_use(parameter which, at::Tensor const& value) = 0;
};

}  // namespace redco
