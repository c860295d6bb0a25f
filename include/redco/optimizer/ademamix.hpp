#pragma once

#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <cmath>
#include <cstdint>
#include <string_view>

namespace redco::optimizer {

/// The optimizer AdEMAMix: AdamW with a second, slow average of the gradients. For a parameter `p`
/// with gradient `g` at update `t` = 1, 2, ...:
/// - m = beta1 m + (1 - beta1) g;  n = beta3 n + (1 - beta3) g;  v = beta2 v + (1 - beta2) g^2
/// - u = (m / (1 - beta1^t) + alpha n) / (sqrt(v / (1 - beta2^t)) + eps)
/// - p -= lr (u + weight_decay p)
///
/// Source: Pagliardini, Ablin and Grangier, The AdEMAMix Optimizer, 2024, algorithm 1.
struct ademamix {
  learning_rate lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double beta3 = 0.9999;
  double alpha = 5;
  /// Number of updates during which alpha rises from 0, and beta3 from beta1; 0 for none.
  std::int64_t warmup = 0;
  double eps = 1e-8;
  double weight_decay = 0;
  /// True to apply weight decay to norms and biases too, as torch does with one parameter group.
  bool decay_all = false;
  /// Maximum global norm of the gradients; larger gradients are scaled down to it. 0 disables
  /// clipping.
  double clip_norm = 0;

  static constexpr std::string_view name = "ademamix";
  constexpr slot_list slots() const { return {"exp_avg_fast", "exp_avg_slow", "exp_avg_sq"}; }

  /// Returns the value of alpha at update `t`, which rises linearly.
  double alpha_at(std::int64_t t) const {
    return t < warmup ? alpha * (static_cast<double>(t) / static_cast<double>(warmup)) : alpha;
  }
  /// Returns the value of beta3 at update `t`. The half-life of the slow average rises linearly.
  double beta3_at(std::int64_t t) const {
    if (t >= warmup) return beta3;
    auto const half_life = [](double beta) { return std::log(0.5) / std::log(beta + 1e-8) - 1; };
    double const part = static_cast<double>(t) / static_cast<double>(warmup);
    return std::pow(0.5, 1 / ((1 - part) * half_life(beta1) + part * half_life(beta3) + 1));
  }
};

}  // namespace redco::optimizer
