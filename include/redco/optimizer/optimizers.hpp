#pragma once

#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/norm_kind.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
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
  optimizer::norm_kind clip_kind = optimizer::norm_kind::l2;  ///< Norm that clip_norm limits

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
  optimizer::norm_kind clip_kind = optimizer::norm_kind::l2;  ///< Norm that clip_norm limits

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
  optimizer::norm_kind clip_kind = optimizer::norm_kind::l2;  ///< Norm that clip_norm limits

  static constexpr std::string_view name = "sgd";
  constexpr optimizer::slot_list slots() const {
    return momentum != 0 ? optimizer::slot_list{"momentum_buffer"} : optimizer::slot_list{};
  }
};

}  // namespace redco

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
  norm_kind clip_kind = norm_kind::l2;  ///< Norm that clip_norm limits

  static constexpr std::string_view name = "lion";
  constexpr slot_list slots() const { return {"exp_avg"}; }
};

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
  norm_kind clip_kind = norm_kind::l2;  ///< Norm that clip_norm limits

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
  norm_kind clip_kind = norm_kind::l2;  ///< Norm that clip_norm limits

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

/// The optimizer Adafactor; its state of a matrix is one number per row and per column. For a
/// parameter `p` with gradient `g` at update `t`, with rate r and b = 1 - t^decay_rate:
/// - R = b R + (1 - b) mean of g^2 + eps1 over a row;  C likewise over a column
/// - u = g / sqrt(R C / mean(R));  u /= max(1, rms(u) / clip_threshold)
/// - p -= a (u + weight_decay p), where a = r max(eps2, rms(p)), or r without scale_parameter
///
/// Vectors average g^2 + eps1; with beta1, a moving average of a u moves p. Means are over whole
/// parameters on every mesh. Source: Shazeer and Stern 2018; equals transformers' Adafactor.
struct adafactor {
  learning_rate lr = 1e-3;      ///< Rate, unless `relative_step` is true
  bool relative_step = true;    ///< True for the rate min(0.01, 1 / sqrt(t))
  bool scale_parameter = true;  ///< True to multiply the rate by the size of the parameter
  double beta1 = 0;
  double decay_rate = -0.8;
  double eps1 = 1e-30;
  double eps2 = 1e-3;
  double clip_threshold = 1;
  double weight_decay = 0;
  /// True to apply weight decay to norms and biases too, as torch does with one parameter group.
  bool decay_all = false;
  /// Maximum global norm of the gradients; larger gradients are scaled down to it. 0 disables
  /// clipping.
  double clip_norm = 0;
  norm_kind clip_kind = norm_kind::l2;  ///< Norm that clip_norm limits

  static constexpr std::string_view name = "adafactor";
  static constexpr bool factors_matrices = true;
  constexpr slot_list slots() const { return with_momentum({"exp_avg_sq"}); }
  constexpr slot_list matrix_slots() const {
    slot_list factors;
    factors.push_back("exp_avg_sq_row", slot_form::rows);
    factors.push_back("exp_avg_sq_col", slot_form::columns);
    return with_momentum(factors);
  }

  /// Returns the rate at step `step` (from 0) of a run of `run_steps` steps.
  double learning_rate_at(std::int64_t step, std::int64_t run_steps) const {
    return relative_step ? std::min(0.01, 1 / std::sqrt(static_cast<double>(step + 1))) : lr.at(step, run_steps);
  }

 private:
  constexpr slot_list with_momentum(slot_list all) const {
    if (beta1 > 0) all.push_back("exp_avg");
    return all;
  }
};

}  // namespace redco::optimizer
