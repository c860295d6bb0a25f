#pragma once

#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/slot_list.hpp>

#include <string_view>

namespace redco {

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
