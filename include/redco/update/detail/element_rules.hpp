#pragma once

#include <cmath>
#include <cstddef>

namespace redco::update::detail {

// Rules that update each element alone: their constants, computed in f64 and rounded once to T, and
// the update of one element. Each product that is added to a sum is an explicit fused multiply-add,
// so that the results are equal on every CPU.

/// The rule of Lion; its slot is the momentum.
template <class T>
struct lion_rule {
  static constexpr std::size_t slots = 1;
  T scale;       // factor of the gradient
  T keep;        // factor of the parameter
  T beta1;       // factor of the momentum in the direction
  T grad_part1;  // 1 - beta1
  T beta2;
  T grad_part2;  // 1 - beta2
  T minus_rate;  // -lr

  template <class U>
  lion_rule<U> rounded() const {
    return {U(scale), U(keep), U(beta1), U(grad_part1), U(beta2), U(grad_part2), U(minus_rate)};
  }

  [[gnu::always_inline]] T operator()(T p, T grad, T* slot) const {
    T const g = grad * scale, direction = std::fma(beta1, slot[0], grad_part1 * g);
    slot[0] = std::fma(beta2, slot[0], grad_part2 * g);
    return std::fma(minus_rate, static_cast<T>((direction > 0) - (direction < 0)), keep * p);
  }
};

/// The rule of AdEMAMix; its slots are the fast and slow averages and the square.
template <class T>
struct ademamix_rule {
  static constexpr std::size_t slots = 3;
  T scale;    // factor of the gradient
  T penalty;  // weight decay
  T beta1;
  T fast_part;  // 1 - beta1
  T beta3;
  T slow_part;  // 1 - beta3
  T beta2;
  T square_part;  // 1 - beta2
  T fast_factor;  // 1 / (1 - beta1^t)
  T alpha;
  T root_factor;  // 1 / sqrt(1 - beta2^t)
  T eps;
  T minus_rate;  // -lr

  template <class U>
  ademamix_rule<U> rounded() const {
    return {U(scale),       U(penalty),     U(beta1), U(fast_part),   U(beta3), U(slow_part), U(beta2),
            U(square_part), U(fast_factor), U(alpha), U(root_factor), U(eps),   U(minus_rate)};
  }

  [[gnu::always_inline]] T operator()(T p, T grad, T* slot) const {
    T const g = grad * scale;
    slot[0] = std::fma(beta1, slot[0], fast_part * g);
    slot[1] = std::fma(beta3, slot[1], slow_part * g);
    slot[2] = std::fma(square_part * g, g, beta2 * slot[2]);
    T const root = std::fma(std::sqrt(slot[2]), root_factor, eps);
    T const direction = std::fma(alpha, slot[1], fast_factor * slot[0]) / root;
    return std::fma(minus_rate, std::fma(penalty, p, direction), p);
  }
};

/// The rule of schedule-free AdamW; its slots are z and the square.
template <class T>
struct schedule_free_rule {
  static constexpr std::size_t slots = 2;
  T scale;    // factor of the gradient
  T penalty;  // weight decay
  T beta2;
  T square_part;  // 1 - beta2
  T root_factor;  // 1 / sqrt(1 - beta2^t)
  T eps;
  T pull;        // c, the part of z in the average
  T step;        // lr (beta1 (1 - c) - 1)
  T minus_rate;  // -lr
  bool first;    // z starts as the parameter

  template <class U>
  schedule_free_rule<U> rounded() const {
    return {U(scale), U(penalty), U(beta2), U(square_part), U(root_factor),
            U(eps),   U(pull),    U(step),  U(minus_rate),  first};
  }

  [[gnu::always_inline]] T operator()(T y, T grad, T* slot) const {
    T const g = grad * scale, z = first ? y : slot[0];
    slot[1] = std::fma(square_part * g, g, beta2 * slot[1]);
    T const direction = std::fma(penalty, y, g / std::fma(std::sqrt(slot[1]), root_factor, eps));
    slot[0] = std::fma(minus_rate, direction, z);
    return std::fma(step, direction, std::fma(pull, z - y, y));
  }
};

}  // namespace redco::update::detail
