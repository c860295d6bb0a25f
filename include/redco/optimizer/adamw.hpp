#pragma once

#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/slot_list.hpp>

#include <string_view>

namespace redco {

/// The optimizer Adam with decoupled weight decay. For a parameter p with gradient g at update t =
/// 1, 2, ...:
/// - p *= 1 - lr weight_decay
/// - m += (1 - beta1) (g - m);  v = beta2 v + (1 - beta2) g^2
/// - p -= lr / (1 - beta1^t) * m / (sqrt(v / (1 - beta2^t)) + eps)
///
/// With amsgrad, the largest v so far replaces v in the last line. Source: Loshchilov and Hutter
/// 2019; equals torch.optim.AdamW.
struct adamw {
  learning_rate lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;
  bool amsgrad = false;
  /// True if norms and biases decay too, as in torch with one parameter group.
  bool decay_all = false;
  /// Global norm to which larger gradients are scaled down; 0: no clipping.
  double clip_norm = 0;

  static constexpr std::string_view name = "adamw";
  constexpr slot_list slots() const {
    return amsgrad ? slot_list{"exp_avg", "exp_avg_sq", "max_exp_avg_sq"} : slot_list{"exp_avg", "exp_avg_sq"};
  }
};

}  // namespace redco
