#pragma once

#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace redco::optimizer {

/// The optimizer schedule-free AdamW, which needs no decay of the rate. For a parameter `y` with
/// gradient `g` at update `t`, and z = y before the first update:
/// - v = beta2 v + (1 - beta2) g^2;  u = g / (sqrt(v / (1 - beta2^t)) + eps) + weight_decay y
/// - y = (1 - c) y + c z + lr (beta1 (1 - c) - 1) u;  z -= lr u
///
/// The weight c = rate(t)^2 / (rate(1)^2 + ... + rate(t)^2). Evaluations, predictions and
/// `save_model` use the average x = y + (1 - 1 / beta1) (z - y). Source: Defazio et al., The Road
/// Less Scheduled, 2024; equals AdamWScheduleFree of the package schedulefree.
struct schedule_free {
  constant lr = {.peak = 1e-3};
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  /// True to apply weight decay to norms and biases too, as torch does with one parameter group.
  bool decay_all = false;
  /// Maximum global norm of the gradients; larger gradients are scaled down to it. 0 disables
  /// clipping.
  double clip_norm = 0;

  static constexpr std::string_view name = "schedule_free";
  constexpr slot_list slots() const { return {"z", "exp_avg_sq"}; }

  /// Returns the average x of the parameter `y` and its slot `z`: numbers or tensors.
  template <class Value>
  Value evaluated_at(Value const& y, Value const& z) const {
    return y + (z - y) * (1 - 1 / beta1);
  }

  /// Returns the weight c of update `t` in the average: its squared rate, divided by the sum of the
  /// squared rates of the updates 1 to `t`. It is 0 if all these rates are 0.
  double weight_at(std::int64_t t) const {
    auto const rising = static_cast<double>(std::min(t, lr.warmup)), all = static_cast<double>(lr.warmup);
    // Rates of the warm-up are 0, 1 / warmup, 2 / warmup, ...
    double const risen = rising > 0 ? (rising - 1) * rising * (2 * rising - 1) / 6 / (all * all) : 0;
    double const sum = risen + static_cast<double>(t - std::min(t, lr.warmup));
    double const own = t <= lr.warmup ? (rising - 1) / all : 1;
    return sum > 0 ? own * own / sum : 0;
  }
};

}  // namespace redco::optimizer
