#pragma once

#include <redco/tensor/torch.hpp>

#include <vector>

namespace redco::update {

/// A group of parameters that are updated alike, stored in flat one-dimensional buffers of equal
/// length. A model has two segments: with weight decay, and without (norms and biases). Frozen
/// parameters are in no segment.
struct segment {
  /// Master parameters, f32 or f64, contiguous. The update changes them.
  at::Tensor param;
  /// Gradient of any floating dtype. It is a sum; the update divides it by the loss weight.
  at::Tensor grad;
  /// Optimizer state in the order of state_slots(), in the dtype of `param`. Zero before the first
  /// update.
  std::vector<at::Tensor> slots;
  /// Copy of the parameters with which the model computes (bf16), written by the update. Undefined
  /// if the model computes with `param`.
  at::Tensor compute;
  /// True if weight decay applies.
  bool decay = true;
};

}  // namespace redco::update
