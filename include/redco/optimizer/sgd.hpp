#pragma once

#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/slot_list.hpp>

#include <string_view>

namespace redco {

/// The optimizer stochastic gradient descent. For a parameter p with gradient g at update t = 1, 2,
/// ...:
///   g += weight_decay p;  b = g when t = 1, else momentum b + (1 - dampening) g
///   p -= lr (g without momentum; g + momentum b with nesterov; else b)
/// Equals torch.optim.SGD.
struct sgd {
  learning_rate lr = 1e-2;
  double momentum = 0;
  double dampening = 0;
  bool nesterov = false;
  double weight_decay = 0;
  /// True if norms and biases decay too, as in torch with one parameter group.
  bool decay_all = false;
  /// Global norm to which larger gradients are scaled down; 0: no clipping.
  double clip_norm = 0;

  static constexpr std::string_view name = "sgd";
  constexpr slot_list slots() const { return momentum != 0 ? slot_list{"momentum_buffer"} : slot_list{}; }
};

}  // namespace redco
