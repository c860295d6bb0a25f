#pragma once

#include <redco/tensor/torch.hpp>

#include <vector>

namespace redco::update {

/// Parameters that are updated in the same way, side by side in flat one-dimensional buffers of equal length. A model
/// has two: with weight decay, and without (norms and biases); frozen parameters are in none.
struct segment {
  /// The masters, f32 or f64, contiguous: what the update changes.
  at::Tensor param;
  /// The gradient, of any floating dtype: a sum that the update divides.
  at::Tensor grad;
  /// State as state_slots() names it, in that order, each of the masters' dtype; zero before the first update.
  std::vector<at::Tensor> slots;
  /// The copy that the model computes with, when it is not the masters themselves (bf16); else undefined. It is written
  /// with the update.
  at::Tensor compute;
  /// Whether weight decay applies.
  bool decay = true;
};

}  // namespace redco::update
