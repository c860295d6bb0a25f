#pragma once

#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/slot_list.hpp>

#include <string_view>

namespace redco {

/// The optimizer Adam. Weight decay is an L2 penalty: weight_decay * p is added to the gradient,
/// and so enters the moments. All else is as in adamw. Source: Kingma and Ba 2015; equals
/// torch.optim.Adam.
struct adam {
  learning_rate lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;
  /// True if norms and biases decay too, as in torch with one parameter group.
  bool decay_all = false;
  /// Global norm to which larger gradients are scaled down; 0: no clipping.
  double clip_norm = 0;

  static constexpr std::string_view name = "adam";
  constexpr slot_list slots() const {
    return amsgrad ? slot_list{"exp_avg", "exp_avg_sq", "max_exp_avg_sq"} : slot_list{"exp_avg", "exp_avg_sq"};
  }
};

}  // namespace redco
