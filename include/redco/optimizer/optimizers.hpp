#pragma once

#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <string_view>

namespace redco {

/// The optimizer Adam. Its weight decay is an L2 penalty: weight_decay * p is added to the gradient
/// and thus enters both moments. All other formulas are those of `adamw`. Source: Kingma and Ba
/// 2015; equals torch.optim.Adam.
struct adam {
  optimizer::learning_rate lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;
  /// True to apply weight decay to norms and biases too, as torch does with one parameter group.
  bool decay_all = false;
  /// Maximum global norm of the gradients; larger gradients are scaled down to it. 0 disables
  /// clipping.
  double clip_norm = 0;

  static constexpr std::string_view name = "adam";
  constexpr optimizer::slot_list slots() const {
    return amsgrad ? optimizer::slot_list{"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}
                   : optimizer::slot_list{"exp_avg", "exp_avg_sq"};
  }
};

/// The optimizer Adam with decoupled weight decay. For a parameter `p` with gradient `g` at update
/// `t` = 1, 2, ...:
/// - p *= 1 - lr weight_decay
/// - m += (1 - beta1) (g - m);  v = beta2 v + (1 - beta2) g^2
/// - p -= lr / (1 - beta1^t) * m / (sqrt(v / (1 - beta2^t)) + eps)
///
/// With amsgrad, the maximum of `v` over all updates replaces `v` in the last formula. Source:
/// Loshchilov and Hutter 2019; equals torch.optim.AdamW.
struct adamw {
  optimizer::learning_rate lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;
  bool amsgrad = false;
  /// True to apply weight decay to norms and biases too, as torch does with one parameter group.
  bool decay_all = false;
  /// Maximum global norm of the gradients; larger gradients are scaled down to it. 0 disables
  /// clipping.
  double clip_norm = 0;

  static constexpr std::string_view name = "adamw";
  constexpr optimizer::slot_list slots() const {
    return amsgrad ? optimizer::slot_list{"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}
                   : optimizer::slot_list{"exp_avg", "exp_avg_sq"};
  }
};

/// The optimizer stochastic gradient descent; equals torch.optim.SGD. For a parameter `p` with
/// gradient `g` and momentum buffer `b` at update `t` = 1, 2, ...:
/// - g += weight_decay p
/// - b = g if t = 1, otherwise b = momentum b + (1 - dampening) g
/// - p -= lr d, where d is g without momentum, g + momentum b with nesterov, and otherwise b
struct sgd {
  optimizer::learning_rate lr = 1e-2;
  double momentum = 0;
  double dampening = 0;
  bool nesterov = false;
  double weight_decay = 0;
  /// True to apply weight decay to norms and biases too, as torch does with one parameter group.
  bool decay_all = false;
  /// Maximum global norm of the gradients; larger gradients are scaled down to it. 0 disables
  /// clipping.
  double clip_norm = 0;

  static constexpr std::string_view name = "sgd";
  constexpr optimizer::slot_list slots() const {
    return momentum != 0 ? optimizer::slot_list{"momentum_buffer"} : optimizer::slot_list{};
  }
};

}  // namespace redco
