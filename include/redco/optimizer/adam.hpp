#pragma once

#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/slot_list.hpp>

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

}  // namespace redco
