#pragma once

#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <string_view>

namespace redco::optimizer {

/// The optimizer Lion. For a parameter `p` with gradient `g` and momentum `m`:
/// - p *= 1 - lr weight_decay
/// - p -= lr sign(beta1 m + (1 - beta1) g)
/// - m = beta2 m + (1 - beta2) g
///
/// Its rate is usually 3 to 10 times smaller than AdamW's, and its weight decay larger by this
/// factor. Source: Chen et al., Symbolic Discovery of Optimization Algorithms, 2023, algorithm 2.
struct lion {
  learning_rate lr = 1e-4;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;
  /// True to apply weight decay to norms and biases too, as torch does with one parameter group.
  bool decay_all = false;
  /// Maximum global norm of the gradients; larger gradients are scaled down to it. 0 disables
  /// clipping.
  double clip_norm = 0;

  static constexpr std::string_view name = "lion";
  constexpr slot_list slots() const { return {"exp_avg"}; }
};

}  // namespace redco::optimizer
